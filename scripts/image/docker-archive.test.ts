import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { dockerArchive } from './docker-archive.ts'
import { sluiceImage } from './sluice-image.ts'
import { tar } from './tar.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-image-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function unpack(archive: Buffer): string {
  const path = folder()
  chmodSync(path, 0o755)
  execFileSync('tar', ['-xp', '-C', path], { input: archive })
  return path
}

it('has files with short and long names, as tar reads them', () => {
  const long = `${'folder-of-a-package/'.repeat(6)}${'f'.repeat(90)}.js`
  const entries = [
    { name: 'a', content: Buffer.from('1'), mode: 0o755 },
    { name: long, content: Buffer.alloc(1_000, 'x'), mode: 0o644 },
  ]
  const path = unpack(tar(entries))
  expect(entries.map(({ name }) => readFileSync(join(path, name)))).toEqual(entries.map(({ content }) => content))
  expect(() => tar([{ name: 'f'.repeat(101), content: Buffer.from(''), mode: 0o644 }])).toThrow('too long')
})

it('is the same for the same content, and names each layer by its digest', () => {
  const layers = [[{ name: 'a', content: Buffer.from('1'), mode: 0o644 }]]
  const archive = dockerArchive([{ tags: ['localhost/a:1'], layers, entrypoint: ['/a'], user: '1:1' }])
  expect(archive.equals(dockerArchive([{ tags: ['localhost/a:1'], layers, entrypoint: ['/a'], user: '1:1' }]))).toBe(true)
  const path = unpack(archive)
  const [image] = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'))
  const config = JSON.parse(readFileSync(join(path, image.Config), 'utf8'))
  expect(config.config).toEqual({ User: '1:1', Entrypoint: ['/a'], WorkingDir: '/' })
  const digest = execFileSync('sha256sum', [join(path, image.Layers[0])], { encoding: 'utf8' }).split(' ')[0]
  expect(config.rootfs.diff_ids).toEqual([`sha256:${digest}`])
})

// chroot needs root, as the tests on a real cluster do.
it.runIf(process.platform === 'linux' && process.getuid?.() === 0)('has all that Node needs: a program runs in it', () => {
  const cli = folder()
  writeFileSync(join(cli, 'sluice.js'), "console.log('in the image: ' + process.argv[2] + ' as ' + process.getuid())")
  const { layers, entrypoint, user } = sluiceImage(cli, ['localhost/sluice:test'])
  const root = unpack(tar(layers.flat()))
  for (const command of [entrypoint, ['sluice']]) {
    const said = execFileSync('chroot', [`--userspec=${user}`, root, ...command, 'hello'], { encoding: 'utf8' })
    expect(said).toBe('in the image: hello as 65532\n')
  }
})
