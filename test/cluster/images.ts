import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One image: its files, its command and the names it goes by. */
interface TestImage {
  tags: string[]
  binary: 'app' | 'pause'
  /** Further files, which is what makes the digests differ. */
  files: Record<string, string>
}

/**
 * The images of the tests. `localhost/app:bad` is missing on purpose; `v2-again` is a second name of
 * the same digest; `crash` ends with code 1 at once.
 */
const testImages: TestImage[] = [
  { tags: ['localhost/pause:1'], binary: 'pause', files: {} },
  { tags: ['localhost/app:v1'], binary: 'app', files: { version: 'v1\n' } },
  { tags: ['localhost/app:v2', 'localhost/app:v2-again'], binary: 'app', files: { version: 'v2\n' } },
  { tags: ['localhost/app:v3'], binary: 'app', files: { version: 'v3\n' } },
  { tags: ['localhost/app:crash'], binary: 'app', files: { version: 'crash\n', crash: '' } },
  { tags: ['localhost/sidecar:v1'], binary: 'app', files: { version: 'sidecar-v1\n' } },
  { tags: ['localhost/sidecar:v2'], binary: 'app', files: { version: 'sidecar-v2\n' } },
]

/** Writes all test images as one docker-archive: `ctr image import` takes it. */
export async function writeTestImages(binaries: string, path: string): Promise<void> {
  const entries = new Map<string, Buffer>()
  const manifest: { Config: string; RepoTags: string[]; Layers: string[] }[] = []
  for (const image of testImages) {
    // The binary has a layer of its own, which the images share.
    const layers = [tar([{ name: image.binary, content: await readFile(join(binaries, image.binary)), mode: 0o755 }])]
    const files = Object.entries(image.files).map(([name, content]) => ({ name, content: Buffer.from(content), mode: 0o644 }))
    if (files.length > 0) {
      layers.push(tar(files))
    }
    const config = Buffer.from(
      JSON.stringify({
        architecture: process.arch === 'x64' ? 'amd64' : process.arch,
        os: 'linux',
        config: { Entrypoint: [`/${image.binary}`], WorkingDir: '/' },
        rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
      }),
    )
    const configName = `${sha256(config)}.json`
    const layerNames = layers.map((layer) => `${sha256(layer)}.tar`)
    entries.set(configName, config)
    layers.forEach((layer, index) => entries.set(layerNames[index]!, layer))
    manifest.push({ Config: configName, RepoTags: image.tags, Layers: layerNames })
  }
  entries.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
  await writeFile(path, tar([...entries].map(([name, content]) => ({ name, content, mode: 0o644 }))))
}

interface TarEntry {
  name: string
  content: Buffer
  mode: number
}

/** The ustar format with fixed owner and time, so that the same content has the same digest everywhere. */
function tar(entries: TarEntry[]): Buffer {
  const blocks: Buffer[] = []
  for (const { name, content, mode } of entries) {
    const header = Buffer.alloc(512)
    const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
    header.write(name, 0, 100)
    header.write(octal(mode, 8), 100)
    header.write(octal(0, 8), 108)
    header.write(octal(0, 8), 116)
    header.write(octal(content.length, 12), 124)
    header.write(octal(0, 12), 136)
    header.write(' '.repeat(8), 148) // the checksum counts as spaces in itself
    header.write('0', 156)
    header.write('ustar\x0000', 257)
    const checksum = header.reduce((sum, byte) => sum + byte, 0)
    header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148)
    blocks.push(header, content, Buffer.alloc((512 - (content.length % 512)) % 512))
  }
  blocks.push(Buffer.alloc(1024))
  return Buffer.concat(blocks)
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
