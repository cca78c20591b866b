"""The guide beside the page: explanations of the tabs, a glossary, a tour and lessons.

Its texts are in the TOML files of this folder; `content` reads and checks them, `routes` sends them
part by part, and guide.js shows them.
"""
