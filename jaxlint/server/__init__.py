"""`jaxlint server`: a language server, for editors. It needs pygls, which the extra `server` installs."""
