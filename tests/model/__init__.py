"""The models of the four databases and the test that compares them with the server."""
