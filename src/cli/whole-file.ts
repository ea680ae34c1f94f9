import { fstatSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'

/**
 * Returns a stream that writes to an output of the process. Node's own stream for a file reports success where a full disk has taken
 * only the beginning of a text; this stream fails then.
 */
export function wholeFile<Stream extends Writable & { fd: number }>(stream: Stream): Stream | Writable {
  const { fd } = stream
  if (!fstatSync(fd).isFile()) return stream
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        writeFileSync(fd, chunk)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}
