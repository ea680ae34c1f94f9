import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dockerArchive, type Image } from '../../scripts/image/docker-archive.ts'

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
  const images = testImages.map(async ({ tags, binary, files }): Promise<Image> => {
    // The binary has a layer of its own, which the images share.
    const program = [{ name: binary, content: await readFile(join(binaries, binary)), mode: 0o755 }]
    const others = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content), mode: 0o644 }))
    return { tags, layers: [program, ...(others.length > 0 ? [others] : [])], entrypoint: [`/${binary}`] }
  })
  await writeFile(path, dockerArchive(await Promise.all(images)))
}
