"""The packed projection: what it is fed, how far it may be off, and how it goes wrong."""
