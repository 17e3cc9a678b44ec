"""In a checkout the plugin is loaded here; elsewhere by ``-p decibench.bench_tests.plugin``."""

pytest_plugins = ["decibench.bench_tests.plugin"]
