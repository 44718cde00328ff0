# Completion of tas-mcp for PowerShell. To use it: tas-mcp completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'tas-mcp' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    $words = @($elements | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $program = $words[0]

    # Windows PowerShell drops empty arguments, so the current word begins with a character.
    $env:TAS_COMPLETE = 'powershell'
    $candidates = & $program '--' @words "=$wordToComplete" 2>$null
    Remove-Item Env:\TAS_COMPLETE

    $candidates | ForEach-Object {
        $value, $meaning = $_.Split("`t")
        if (-not $meaning) { $meaning = $value }
        $text = $value
        if ($text -match '[^\w./:=\\+%-]') {
            # PowerShell takes typographic quotation marks for plain ones.
            $text = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
        }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $meaning)
    }
}
