//! Texts for the tests of the config: right ones, and wrong ones with what is
//! said of them.

/// Whole configs, to be broken in every way.
pub(crate) const WHOLE: &[&str] = &[
    r#"# An edge machine.
hostname = "edge-7"
log-level = "debug"

[[mount]]
source = "/dev/vda"
target = "/var/lib"
type = "ext4"
options = "noatime,nosuid"
wait = "10s"

[[mount]]
source = 'tmpfs' # no device
target = "/tmp"
type = "tmpfs"
required = false

[[directory]]
path = "/var/lib/mesh"
mode = "0750"
uid = 1_000
gid = 0x3e8

[host]
command = [
  "/usr/bin/mesh", # the program
  'run',
]
output = "kmsg"
stop-signal = "RTMIN+3"
stop-grace = "1min 30s"
backoff-max = "5min"

[host.environment]
RUST_LOG = "info"
"EMPTY" = ""

[shutdown]
sync = "1min"

[signals]
TERM = "poweroff"
HUP = "ignore"
"#,
    "\u{feff}host.command=[\"/a\\u002d\\x41\\t\\\"\",'''\nb''\n''']\r\nhost.backoff = \"\"\"5\\\n  s\"\"\"\r\n\
     host.environment = {A=\"1\",B.C=\"2\",}\r\nmount=[{source=\"a\",target=\"/\",type=\"t\"},]\r\n[ shutdown ]\r\n\
     unmount=\"1s\"#é\r\n[[directory]]\r\npath='/é'\r\n",
];

/// Configs that are right.
pub(crate) const GOOD: &[&str] = &[
    WHOLE[0],
    "",
    "\n\r\n # nothing\n\t",
    "\u{feff}",
    "\u{feff}hostname = 'a'",
    "hostname = \"a\"",
    "\"hostname\" = \"a\"",
    "'log-level' = '''debug'''",
    "log-level = \"\"\"\\\n   in\\\n   fo\"\"\"",
    "\"\\x68ostname\" = \"\\u0061\\x62\"",
    "mount = []",
    "mount = [ ]\ndirectory = [\n# none\n]",
    "mount = [{ source = \"a\", target = \"/a\", type = \"b\" }, { source = \"a\", target = \"/b\", type = \"b\" }]",
    "mount = [{\n source = \"a\",\n target = \"/a\", # TOML 1.1\n type = \"b\",\n}]",
    "[[mount]]\nsource=\"a b\\t\\\\\"\ntarget=\"/a b\"\ntype=\"x\"\nrequired=true\n[[mount]]\nsource='C:\\'\ntarget='/c'\ntype='x'",
    "[[ mount ]]\nsource=\"a\"\ntarget=\"/\"\ntype=\"x\"\n[ host ]\ncommand=[\"/a\"]\n[[mount]]\nsource=\"a\"\ntarget=\"/b\"\ntype=\"x\"",
    "[[directory]]\npath = \"/a\"\nmode = \"1777\"\nuid = 0xffff\ngid = 0o17",
    "[[directory]]\npath = \"/a\"\nuid = -0\ngid = +4294967294",
    "[host]\ncommand = [\"/a\", \"\", \"--x=\\u20ac\\U0001f600\"]",
    "[host]\ncommand = [\"\"\"\n/a\"\"\", '''\nb\n''']",
    "host = { command = [\"/a\"], environment = { A = \"1\" } }",
    "host = { command = [\"/a\"], environment.A = \"1\", environment.B = \"2\" }",
    "host.command = [\"/a\"]\nhost.environment.A = \"1\"\nhost.environment.B = \"2\"\nhost.output = \"null\"",
    "[host.environment]\nA = \"1\"\n[host]\ncommand = [\"/a\"]",
    "[host]\ncommand = [\"/a\"]\n[host.environment]",
    "[host]\ncommand = [\"/a\"]\nenvironment.A = \"=\"\nenvironment.AA = \"a=b\"",
    "[\"host\"]\ncommand = [\"/a\"]\n[ host . 'environment' ]\n\"A\" = 'b'",
    "host . command = [\"/a\"]",
    "[host]\ncommand = [\"/a\"]\nstop-signal = \"SIGKILL\"\nstop-grace = \"0s\"\nbackoff = \"0s\"\nbackoff-max = \"0s\"\nbackoff-reset = \"365d\"",
    "[host]\ncommand = [\"/a\"]\nbackoff-max = \"90s\"\nbackoff = \"1min30s\"",
    "[shutdown]\nunmount = \"1ms\"\nsync = \" 1 h  2ms \"",
    "shutdown = {}\nsignals = {}",
    "signals = { TERM = \"kexec\", INT = \"ignore\" }\n[shutdown]",
    "[signals]\nTERM = \"ignore\"\nINT = \"reload\"\nUSR1 = \"halt\"\nUSR2 = \"poweroff\"\nPWR = \"reboot\"\nHUP = \"kexec\"",
    "shutdown.sync = \"1s\"\nshutdown.unmount = \"1s\"\n[signals]",
];

/// Texts that are wrong, and what is said of them.
pub(crate) const BAD: &[(&str, &[&str])] = &[
    (
        "hostname = 5\n\n[host]\nstop-grace = 5\n",
        &[
            "1:12: hostname: expected a hostname of letters, digits, \"-\" and \".\", at most 64, found 5",
            "4:14: host.stop-grace: expected a duration such as \"5s\", \"250ms\" or \"1min 30s\", at most \"365d\", found 5",
            "3:1: host.command: missing; expected an array of 1 to 64 strings, an absolute path first",
        ],
    ),
    (
        "[host]\ncommand = [\"/a\"]\nstop_grace = \"5s\"\nfrobnicate = [1, 2]\n",
        &[
            "3:1: host.stop_grace: unknown key; did you mean host.stop-grace",
            "4:1: host.frobnicate: unknown key",
        ],
    ),
    (
        "[mounts]\nx = 1\ny = 2\n[[a.b]]\nz = 1",
        &[
            "1:2: mounts: unknown key; did you mean mount",
            "4:3: a: unknown key",
        ],
    ),
    (
        "stop-grace = \"5s\"",
        &["1:1: stop-grace: unknown key; did you mean host.stop-grace"],
    ),
    (
        "hostname = \"a\"\nhostname = \"b\"",
        &["2:1: hostname: duplicate key or table"],
    ),
    (
        "[host]\ncommand = [\"/a\"]\n[host]\noutput = \"null\"",
        &["3:2: host: duplicate key or table"],
    ),
    (
        "host = { command = [\"/a\"] }\n[host]",
        &["2:2: host: duplicate key or table"],
    ),
    (
        "host = { command = [\"/a\"] }\n[host.environment]\nA = 'b'",
        &["2:2: host: duplicate key or table"],
    ),
    (
        "host = { command = [\"/a\"] }\nhost.output = 'null'",
        &["2:1: host: duplicate key or table"],
    ),
    (
        "host.command = [\"/a\"]\n[host]\noutput = 'null'",
        &["2:2: host: duplicate key or table"],
    ),
    (
        "[host]\ncommand = [\"/a\"]\n[host.environment]\nA = '1'\n[host.environment]",
        &["5:7: host.environment: duplicate key or table"],
    ),
    (
        "[host.environment]\nA = '1'\n[host]\ncommand = [\"/a\"]\nenvironment.B = '2'",
        &["5:1: host.environment: duplicate key or table"],
    ),
    (
        "[host]\ncommand = [\"/a\"]\nenvironment = { A = '1' }\nenvironment.B = '2'",
        &["4:1: host.environment: duplicate key or table"],
    ),
    (
        "[host]\ncommand = [\"/a\"]\nenvironment.A = '1'\nenvironment = {}",
        &["4:1: host.environment: duplicate key or table"],
    ),
    (
        "[host]\ncommand = [\"/a\"]\nenvironment = { A = '1', A = '2' }",
        &["3:26: host.environment.A: duplicate key or table"],
    ),
    (
        "mount = []\n[[mount]]",
        &[
            "2:3: mount: duplicate key or table",
            "2:1: mount[0].source: missing; expected a string that is not empty",
            "2:1: mount[0].target: missing; expected an absolute path without \"..\"",
            "2:1: mount[0].type: missing; expected a string that is not empty",
        ],
    ),
    (
        "[mount]\nsource = 'a'\ntarget = '/a'\ntype = 'b'",
        &["1:2: mount: expected an array of tables, written with [[ ]], found a table"],
    ),
    (
        "[[host]]\ncommand = ['/a']",
        &["1:3: host: expected a table, written with [ ], found an array of tables"],
    ),
    (
        "mount.source = 'a'",
        &["1:1: mount: expected an array of tables, written with [[ ]], found a table"],
    ),
    (
        "[hostname]\na = 1",
        &[
            "1:2: hostname: expected a hostname of letters, digits, \"-\" and \".\", at most 64, found a table",
        ],
    ),
    (
        "[[mount]]\nsource='a'\ntarget='/a'\ntype='x'\n[[mount]]\ntarget='//a/.'\nsource='b'\ntype='x'",
        &["6:1: mount[1].target: expected a target that no mount before has"],
    ),
    (
        "[[mount]]\nsource = ''\ntarget = 'a'\ntype = 'x'\nsource = 'b'\nrequired = \"yes\"\n[[mount]]\nsource='b'\ntarget='/a/../b'\ntype=[]",
        &[
            "2:10: mount[0].source: expected a string that is not empty, found ''",
            "3:10: mount[0].target: expected an absolute path without \"..\", found 'a'",
            "5:1: mount[0].source: duplicate key or table",
            "6:12: mount[0].required: expected true or false, found \"yes\"",
            "9:8: mount[1].target: expected an absolute path without \"..\", found '/a/../b'",
            "10:6: mount[1].type: expected a string that is not empty, found an array",
        ],
    ),
    (
        "mount = [1, { source = 'a' }, {}]",
        &[
            "1:10: mount: expected a table, found 1",
            "1:13: mount[0].target: missing; expected an absolute path without \"..\"",
            "1:13: mount[0].type: missing; expected a string that is not empty",
            "1:31: mount[1].source: missing; expected a string that is not empty",
            "1:31: mount[1].target: missing; expected an absolute path without \"..\"",
            "1:31: mount[1].type: missing; expected a string that is not empty",
        ],
    ),
    (
        "[[directory]]\npath = '/a'\nmode = 0o755\nuid = 4294967295\ngid = '0'\n[[directory]]\nmode = '0888'",
        &[
            "3:8: directory[0].mode: expected an octal mode as a string, such as \"0755\", found 0o755",
            "4:7: directory[0].uid: expected a whole number from 0 to 4294967294, found 4294967295",
            "5:7: directory[0].gid: expected a whole number from 0 to 4294967294, found '0'",
            "7:8: directory[1].mode: expected an octal mode as a string, such as \"0755\", found '0888'",
            "6:1: directory[1].path: missing; expected an absolute path without \"..\"",
        ],
    ),
    (
        "[host]\ncommand = []",
        &["2:1: host.command: expected an array of 1 to 64 strings, an absolute path first"],
    ),
    (
        "[host]\ncommand = '/a b'",
        &[
            "2:11: host.command: expected an array of 1 to 64 strings, an absolute path first, found '/a b'",
        ],
    ),
    (
        "[host]\ncommand = ['a', 5, ['x'], {y = 1}, '\u{e9}', \"\\u0000\"]",
        &[
            "2:12: host.command: expected the program by an absolute path without \"..\", found 'a'",
            "2:17: host.command: expected a string, found 5",
            "2:20: host.command: expected a string, found an array",
            "2:27: host.command: expected a string, found a table",
            "2:41: host.command: expected a string without a NUL character, found \"\\u0000\"",
        ],
    ),
    (
        "[host]\ncommand = ['/a']\nstop-signal = 'STOP'\noutput = 'tty'\nbackoff = '2min'\ndirectory = 'x'\n",
        &[
            "3:15: host.stop-signal: expected the name of a signal but STOP, such as \"TERM\" or \"RTMIN+3\", found 'STOP'",
            "4:10: host.output: expected \"console\", \"kmsg\" or \"null\", found 'tty'",
            "6:13: host.directory: expected an absolute path without \"..\", found 'x'",
            "5:1: host.backoff: expected at most \"60s\", which is backoff-max while it is not set",
        ],
    ),
    (
        "[host]\ncommand = ['/a']\nbackoff-max = '500ms'\n",
        &["3:1: host.backoff-max: expected not less than backoff"],
    ),
    (
        "[host]\ncommand = ['/a']\nstart-limit = 3\nrecord = '/'\ncurrent = '/a/current/'\n",
        &[
            "4:10: host.record: expected an absolute path without \"..\", with a name at its end, found '/'",
            "5:11: host.current: expected an absolute path without \"..\", with a name at its end, found '/a/current/'",
        ],
    ),
    (
        "[host]\ncommand = ['/a']\nstart-limit = 3\nrecord = '/a/.'\ncurrent = '/a/../current'\n",
        &[
            "4:10: host.record: expected an absolute path without \"..\", with a name at its end, found '/a/.'",
            "5:11: host.current: expected an absolute path without \"..\", with a name at its end, found '/a/../current'",
        ],
    ),
    (
        "[host]\ncommand = ['/a']\nstart-limit = 3\nrecord = '/a/b'\ncurrent = '/a//b'\n",
        &["4:1: host.record: expected another path than current"],
    ),
    (
        "[host]\ncommand = ['/a']\n[host.environment]\n1A = ''\n'A=B' = ''\nC = 1\nD.E = ''\nF = \"\\u0000\"\nG = []",
        &[
            "4:1: host.environment.1A: expected a name of letters, digits and \"_\", no digit first, found 1A",
            "5:1: host.environment.'A=B': expected a name of letters, digits and \"_\", no digit first, found 'A=B'",
            "6:5: host.environment.C: expected a string, found 1",
            "7:1: host.environment.D: expected a string, found a table",
            "8:5: host.environment.F: expected a string without a NUL character, found \"\\u0000\"",
            "9:5: host.environment.G: expected a string, found an array",
        ],
    ),
    (
        "[shutdown]\nunmount = '0s'\nsync = '366d'\n[signals]\nTERM = 'explode'\nSEGV = 'halt'\nterm = 'halt'",
        &[
            "2:11: shutdown.unmount: expected a duration that is not zero, such as \"5s\" or \"1min 30s\", found '0s'",
            "3:8: shutdown.sync: expected a duration that is not zero, such as \"5s\" or \"1min 30s\", found '366d'",
            "5:8: signals.TERM: expected \"ignore\", \"reload\", \"halt\", \"poweroff\", \"reboot\" or \"kexec\", found 'explode'",
            "6:1: signals.SEGV: unknown key",
            "7:1: signals.term: unknown key; did you mean signals.TERM",
        ],
    ),
    (
        "log-level = true\n\n\u{e9} = 1\nhostname = edge\n",
        &[
            "1:13: log-level: expected \"error\", \"warning\", \"notice\", \"info\" or \"debug\", found true",
            "3:1: invalid unquoted key, expected letters, numbers, `-` or `_`",
            "4:12: hostname: a string must be in quotes",
        ],
    ),
    (
        "# \u{e9}\u{e9}\n'\u{e9}' = \"\u{e9}\" x\nhostname = \nlog-level = \"no end\n[host\ncommand = ['/a' 'b']\n",
        &[
            "2:11: unexpected key or value, expected a line end or `#`",
            "3:12: hostname: missing value",
            "4:20: log-level: invalid basic string, expected `\"`",
            "5:6: unclosed table, expected `]`",
            "6:17: missing comma between array elements, expected `,`",
        ],
    ),
    (
        "hostname = \"\\q\"\nlog-level = \"\"\"\nverbose\nindeed\"\"\"\n[host]\ncommand = ['/a']\noutput = 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'",
        &[
            "1:14: hostname: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u` or `U`",
            "2:13: log-level: expected \"error\", \"warning\", \"notice\", \"info\" or \"debug\", found \"\"\"…",
            "7:10: host.output: expected \"console\", \"kmsg\" or \"null\", found 'abcdefghijklmnopqrstuvwxyzabcdefghijklm…",
        ],
    ),
    (
        "x = [\"\\q\", { y = \"\\w\" }]\n\"\\z\" = 1",
        &[
            "1:1: x: unknown key",
            "1:8: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u` or `U`",
            "1:20: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u` or `U`",
            "2:3: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u` or `U`",
        ],
    ),
    (
        "[[directory]]\n[host\ncommand = ['/a']",
        &[
            "2:6: unclosed table, expected `]`",
            "1:1: directory[0].path: missing; expected an absolute path without \"..\"",
        ],
    ),
    (
        "\u{feff}hostname = 5",
        &[
            "1:12: hostname: expected a hostname of letters, digits, \"-\" and \".\", at most 64, found 5",
        ],
    ),
];
