"""Brings what is generated up to date, before the tests import the package."""

import generate

generate.main()
