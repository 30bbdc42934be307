//go:build unix

package bindings

import (
	"fmt"
	"os"
	"syscall"
)

// checkPrivate reports an error unless dir is a directory that this user (or root) owns and nobody else may write to.
func checkPrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s may be written by others (mode %04o): make it private with chmod 700", dir, mode)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); ok && int(stat.Uid) != uid && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to user %d, this is user %d", dir, stat.Uid, uid)
	}
	return nil
}
