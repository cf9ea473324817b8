# Hands a request without a body to the resident worker, as `resident.exchange` does. The launcher runs this first
# where there is a perl, because perl starts in a quarter of the time that a bare Python takes; it loads no module.
# Arguments: the worker's name. Ends with 0 once it has answered, with 2 if the worker has let it wait too long, with 1
# if Python must see to it; in both cases nothing has been written.

exit 1 if $^O ne 'linux' || $ENV{CONTENT_LENGTH} || ($ENV{VECSEARCH_WORKER} // '') eq 'off';

# As the headers of Linux have them on nearly every machine; where they are others, the call below fails.
my ($AF_UNIX, $SOCK_STREAM, $SOL_SOCKET, $SO_PEERCRED) = (1, 1, 1, 17);
my ($PATIENCE, $SILENT) = (10, 5);

my $place = "/tmp/vecsearch-$>";
my @found = lstat $place;
exit 1 unless @found && $found[2] == 040700 && $found[4] == $>;

my $repository = $ENV{FOSSIL_REPOSITORY} // '';
# Fossil may name it relative to the folder that it runs us in.
$repository = readlink('/proc/self/cwd') . "/$repository" if $repository =~ m{^[^/]};
@found = stat $repository or exit 1;
$ENV{FOSSIL_REPOSITORY} = $repository;
my $facts = join '', map { "$_\0$ENV{$_}\0" } keys %ENV;
$facts .= "VECSEARCH_FILE\0$found[0].$found[1]\0";
my $body = length($facts) . "\n$facts";
my $message = 'POST / HTTP/1.0' . "\r\nContent-Length: " . length($body) . "\r\n\r\n$body";

$SIG{PIPE} = 'IGNORE';
$SIG{ALRM} = sub {
    my @lock = stat "$place/$ARGV[0].lock";
    unlink "$place/$ARGV[0]" if @lock && time - $lock[9] > $SILENT;
    exit 2;
};
alarm $PATIENCE;
socket my $way, $AF_UNIX, $SOCK_STREAM, 0 or exit 1;
connect $way, pack 'S Z*', $AF_UNIX, "$place/$ARGV[0]" or exit 1;
my $peer = getsockopt $way, $SOL_SOCKET, $SO_PEERCRED;
exit 1 unless defined $peer && length $peer == 12 && (unpack 'l3', $peer)[1] == $>;

sub put {
    my ($where, $text) = @_;
    for (my $done = 0; $done < length $text;) {
        $done += syswrite($where, $text, length($text) - $done, $done) || return;
    }
    1;
}

put($way, $message) or exit 1;
my $reply = '';
1 while sysread $way, $reply, 1 << 16, length $reply;
alarm 0;
my ($head, $said) = split /\r\n\r\n/, $reply, 2;
exit 1 unless defined $said && $head =~ m{^HTTP/1\.\d 200 } && $head =~ /^Content-Length: (\d+)\r?$/mi && $1 == length $said;
my $errors = $head =~ /^X-Errors: (\d+)\r?$/mi ? $1 : 0;
put(*STDERR, substr $said, 0, $errors);
put(*STDOUT, substr $said, $errors);
exit 0;
