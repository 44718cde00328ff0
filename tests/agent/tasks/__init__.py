"""The tasks by topic. Importing a module registers its tasks."""

from . import authoring, exports, large, projects, reruns, results, starting, stopping  # noqa: F401
