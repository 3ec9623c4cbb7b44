"""The version of the package, which is the version of the library that it was written for."""

__version__ = "0.1.0"
