// Writes the container image of sluice, without Docker: an archive for `docker load`, `ctr image import` or `skopeo copy`.
//   node scripts/write-image.ts FILE [TAG…]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleCommandLine } from './bundle-command-line.ts'
import { dockerArchive } from './image/docker-archive.ts'
import { sluiceImage } from './image/sluice-image.ts'

const [file, ...tags] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node scripts/write-image.ts FILE [TAG…]')
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'))
try {
  await bundleCommandLine(folder)
  const archive = dockerArchive([sluiceImage(folder, tags.length > 0 ? tags : ['localhost/sluice:latest'])])
  writeFileSync(file, archive)
  console.log(`${file}: ${Math.round(archive.length / 1e6)} MB`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
