import { fstatSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'

/**
 * What writes to an output of the process. Node's own stream for a file takes a text for written of which a disk that fills up
 * meanwhile has taken the beginning; this one fails then.
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
