"""What `jaxlint inspect --arrays` says of variables, held against what they were while the tests of real packages ran."""
