# SPDX-License-Identifier: Apache-2.0
# What is installed, and the package configuration that a consumer finds.
