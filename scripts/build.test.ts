import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApiServer } from '../src/kube/testing/api-server.ts'
import { makeCertificates, opensslMissing } from '../src/kube/testing/certificates.ts'
import { startConnectProxy } from '../src/kube/testing/connect-proxy.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** A package as npm would see it: the manifest and the built files. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-build-'))
  for (const file of ['package.json', 'LICENSE']) cpSync(join(ROOT, file), join(folder, file))
  const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts'), join(folder, 'dist')], { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

function run(...args: string[]) {
  return spawnSync(process.execPath, [join(folder, 'dist/cli/sluice.js'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { HOME: folder },
  })
}

/** Returns the chunk with that name, whatever its hash. */
function cliFile(name: string): string {
  return readdirSync(join(folder, 'dist/cli')).find((file) => file.startsWith(`${name}-`))!
}

/** Returns a chunk and its static imports, without its lazy imports. */
function loadedAtOnce(file: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(file)) return found
  const source = readFileSync(join(folder, 'dist/cli', file), 'utf8')
  found.set(file, source)
  for (const [, imported] of source.matchAll(/^(?:import|export) .*"\.\/(.*)"/gm)) loadedAtOnce(imported!, found)
  return found
}

/** The bundler names the module above each part of a chunk. */
function packagesIn(chunks: ReadonlyMap<string, string>): string[] {
  const names = [...chunks.values()].flatMap((source) =>
    [...source.matchAll(/^\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, name]) => name!),
  )
  return [...new Set(names)].sort()
}

test('the command line needs nothing but its own files', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(run('version')).toMatchObject({ status: 0, stdout: `sluice ${version} (node ${process.versions.node})\n`, stderr: '' })
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('upgrade [options]'), stderr: '' })
  // Without a cluster, the command still loads all lazy parts.
  expect(run('status')).toMatchObject({ status: 3, stderr: expect.stringContaining('error: no cluster is configured') })
})

test.skipIf(opensslMissing)(
  'it finds a cluster and speaks to it with the parts of other packages that the bundle has',
  async () => {
    const certificates = makeCertificates()
    const server = await startApiServer({ tls: { certificates } })
    server.handle((_seen, response) => response.writeHead(403).end())
    const authority = Buffer.from(certificates.ca).toString('base64')
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(
      kubeconfig,
      `contexts: [{name: here, context: {cluster: here, user: me}}]
current-context: here
clusters: [{name: here, cluster: {server: '${server.url}', certificate-authority-data: ${authority}}}]
users:
  - {name: other, user: &secret {token: SECRET}}
  - {name: me, user: {<<: *secret}}
`,
    )
    try {
      const args = [join(folder, 'dist/cli/sluice.js'), 'status', '--kubeconfig', kubeconfig]
      const child = spawn(process.execPath, args, { cwd: folder, env: { HOME: folder }, stdio: 'ignore' })
      expect((await once(child, 'exit'))[0]).not.toBe(0)
      expect(server.seen[0]?.headers.authorization).toBe('Bearer SECRET')
    } finally {
      await server.close()
    }
  },
)

test.skipIf(opensslMissing)('it goes through the proxy of a cluster', async () => {
  const certificates = makeCertificates()
  const server = await startApiServer({ tls: { certificates } })
  const proxy = await startConnectProxy()
  server.handle((_seen, response) => response.writeHead(403).end())
  const authority = Buffer.from(certificates.ca).toString('base64')
  const kubeconfig = join(folder, 'kubeconfig-proxy')
  writeFileSync(
    kubeconfig,
    `contexts: [{name: here, context: {cluster: here, user: me}}]
current-context: here
clusters: [{name: here, cluster: {server: '${server.url}', certificate-authority-data: ${authority}, proxy-url: '${proxy.url}'}}]
users: [{name: me, user: {token: SECRET}}]
`,
  )
  try {
    const args = [join(folder, 'dist/cli/sluice.js'), 'status', '--kubeconfig', kubeconfig]
    const child = spawn(process.execPath, args, { cwd: folder, env: { HOME: folder }, stdio: 'ignore' })
    expect((await once(child, 'exit'))[0]).not.toBe(0)
    expect(server.seen[0]?.headers.authorization).toBe('Bearer SECRET')
    expect(proxy.tunnels).toContain(`127.0.0.1:${server.port}`)
  } finally {
    await proxy.close()
    await server.close()
  }
})

test('it can be executed, and stays in parts that are loaded when they are needed', () => {
  const entry = join(folder, 'dist/cli/sluice.js')
  expect(statSync(entry).mode & 0o111).toBe(0o111)
  const source = readFileSync(entry, 'utf8')
  expect(source).toMatch(/^#!\/usr\/bin\/env node\n/)
  expect(source.length).toBeLessThan(1000)
  expect(packagesIn(loadedAtOnce(cliFile('main')))).toEqual(['commander'])
  // Control: packages that load later are found in their chunks.
  expect(packagesIn(loadedAtOnce(cliFile('world')))).toEqual(expect.arrayContaining(['zod', 'yaml']))
})

test('the licenses of what is bundled travel along', () => {
  const text = readFileSync(join(folder, 'dist/cli/THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['commander', 'undici', 'zod', 'yaml', 'pino', 'log-update'])
    expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'))
})

test('the library can be imported, and has its types', () => {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const script = "import('./dist/src/index.js').then((library) => console.log(Object.keys(library).join()))"
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', cwd: folder })
  expect(stderr).toBe('')
  expect(stdout.trim().split(',')).toEqual(
    expect.arrayContaining(['AdapterError', 'connect', 'createSluice', 'loadConfig', 'podUpgradeMachine']),
  )
  expect(readFileSync(join(folder, 'dist/src/index.d.ts'), 'utf8')).toContain('createSluice')
  expect(readFileSync(join(folder, 'dist/adapters/contract.d.ts'), 'utf8')).toContain('interface Adapter')
})

test('npm packs what is needed, and no test or source', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--offline'], { encoding: 'utf8', cwd: folder })
  expect(stdout).toMatch(/^\[/)
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const paths = files.map(({ path }) => path)
  const { bin, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    bin: Record<string, string>
    exports: Record<string, Record<string, string>>
  }
  const promised = [...Object.values(bin), ...Object.values(exports).flatMap((entry) => Object.values(entry))]
  const started = ['leash', 'load-balancer', 'pod', 'traffic'].map((program) => `dist/cli/demo-${program}.js`)
  expect(paths).toEqual(expect.arrayContaining(started))
  expect(paths).toEqual(expect.arrayContaining([...promised.map((path) => path.replace(/^\.\//, '')), 'LICENSE', 'package.json']))
  expect(paths.filter((path) => /\.test\.|\/testing\/|(?<!\.d)\.ts$/.test(path))).toEqual([])
})
