//go:build !unix

package bindings

// checkPrivate is for systems without Unix permissions, where no library loads anyway.
func checkPrivate(string) error { return checkPlatform() }
