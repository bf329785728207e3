"""What tests share: the marks of expected findings, projects that are written and checked, the command line, programs that train."""
