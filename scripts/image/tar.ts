/** A file of a tar archive. `name` has no leading slash and at most 255 bytes. */
export interface TarEntry {
  name: string
  content: Buffer
  mode: number
}

/** Returns an archive in the ustar format, with a fixed owner and time: the same content has the same digest everywhere. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const blocks: Buffer[] = []
  for (const { name, content, mode } of entries) {
    const header = Buffer.alloc(512)
    const [prefix, rest] = splitName(name)
    const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
    header.write(rest, 0, 100)
    header.write(octal(mode, 8), 100)
    header.write(octal(0, 8), 108)
    header.write(octal(0, 8), 116)
    header.write(octal(content.length, 12), 124)
    header.write(octal(0, 12), 136)
    header.write(' '.repeat(8), 148) // The checksum counts as spaces in itself.
    header.write('0', 156)
    header.write('ustar\x0000', 257)
    header.write(prefix, 345, 155)
    const checksum = header.reduce((sum, byte) => sum + byte, 0)
    header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148)
    blocks.push(header, content, Buffer.alloc((512 - (content.length % 512)) % 512))
  }
  blocks.push(Buffer.alloc(1024))
  return Buffer.concat(blocks)
}

/** A name of more than 100 bytes is split at a slash. */
function splitName(name: string): [prefix: string, rest: string] {
  if (Buffer.byteLength(name) <= 100) return ['', name]
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
    const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)]
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(rest) <= 100) return [prefix, rest]
  }
  throw new Error(`the name ${name} is too long for a tar archive`)
}
