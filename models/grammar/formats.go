package grammar

import (
	"maps"
	"slices"
)

// formats are the values of the keyword format that are supported, as patterns. All that they match is of the format; a few things
// are left out, such as the 29th of February and leap seconds.
var formats = map[string]string{
	"date":      `^` + date + `$`,
	"time":      `^` + clock + `$`,
	"date-time": `^` + date + `T` + clock + `$`,
	"duration":  `^P(\d{1,6}W|(\d{1,6}Y)(\d{1,6}M)?(\d{1,6}D)?|(\d{1,6}M)(\d{1,6}D)?|\d{1,6}D|(\d{1,6}D)?T(\d{1,6}H(\d{1,6}M)?(\d{1,6}S)?|\d{1,6}M(\d{1,6}S)?|\d{1,6}S))$`,
	"uuid":      `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`,
	"email":     `^[A-Za-z0-9_+-]{1,20}(\.[A-Za-z0-9_+-]{1,20}){0,2}@(` + label + `\.){1,3}[A-Za-z]{2,10}$`,
	"hostname":  `^(` + label + `\.){0,4}` + label + `$`,
	"ipv6":      `^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$`,
	"uri":       `^https?://(` + label + `\.){0,4}` + label + `(:[1-9]\d{0,3})?(/[A-Za-z0-9._~-]{0,60}){0,12}(\?[A-Za-z0-9._~=&-]{0,120})?(#[A-Za-z0-9._~-]{0,60})?$`,
	"ipv4":      `^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$`,
}

const (
	date  = `\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))`
	clock = `([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)`
	label = `[A-Za-z0-9]([A-Za-z0-9-]{0,20}[A-Za-z0-9])?`
)

func formatNames() []string { return slices.Sorted(maps.Keys(formats)) }
