/** Reads the config file, with a limit on its size and on the waiting time. */
import { ConfigError } from './config-error.ts'
import { readBounded, type Wrong } from './read-bounded.ts'

/** A config has a page or two; a larger file is the wrong file. */
const LARGEST_FILE_BYTES = 1 << 18
/** The command that prints a config may have to decrypt it first. */
const PIPE_DEADLINE_MS = 10_000

const CHOICE = 'name the config with --config FILE or SLUICE_CONFIG; without either it is ./sluice.yaml'
const RIGHT_FILE = 'is this the right file?'
const FROM_COMMAND = 'write the config into a file, or hand over what a command prints with --config <(COMMAND)'

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file: a part of its path is a file, not a directory',
  ELOOP: 'leads nowhere: its symbolic links go round in a circle',
  ENAMETOOLONG: 'there is no such file: the name is longer than one may be',
  EISDIR: 'is a directory',
  EACCES: 'may not be read (permission denied)',
  EPERM: 'may not be read (permission denied)',
  ENXIO: 'is a socket or a device that nobody serves, not a file',
  ENODEV: 'is a socket or a device that nobody serves, not a file',
}

const HINTS: Record<Exclude<Wrong['kind'], 'directory'>, string> = {
  device: FROM_COMMAND,
  long: RIGHT_FILE,
  endless: FROM_COMMAND,
}

/** Throws a ConfigError. `pipeDeadlineMs` is the time limit for the output of another process; `choice` says how to name another file. */
export async function readConfigFile(
  file: string,
  { pipeDeadlineMs = PIPE_DEADLINE_MS, what = 'a config', choice = CHOICE } = {},
): Promise<Uint8Array> {
  const fail = ({ message, hint }: { message: string; hint: string }, cause?: unknown): never => {
    throw new ConfigError(file, [{ path: '', message, hint, line: 0, column: 0 }], { cause })
  }
  if (file === '') fail({ message: 'is no name of a file', hint: choice })
  const read = await readBounded(file, { largestBytes: LARGEST_FILE_BYTES, pipeDeadlineMs, what }).catch(
    (error: NodeJS.ErrnoException) =>
      fail({ message: REASONS[error.code ?? ''] ?? `cannot be read: ${error.message}`, hint: choice }, error),
  )
  return read instanceof Uint8Array
    ? read
    : fail({ message: read.message, hint: read.kind === 'directory' ? choice : HINTS[read.kind] })
}
