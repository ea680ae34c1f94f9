import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startApiServer } from '../kube/testing/api-server.ts'
import { makeCertificates, opensslMissing } from '../kube/testing/certificates.ts'
import { makeTemporaryFolder } from '../kube/testing/temporary-folder.ts'
import { shellQuote } from '../report/words/shell-quote.ts'

/* The test runs a whole process at a pseudo terminal, which `script` makes (Debian: bsdutils). */

// Each test starts whole processes, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const noTerminal = spawnSync('script', ['--version']).status !== 0
if (noTerminal) console.warn('a plugin that prompts is not run at a terminal: there is no script')

/** Asks for a code on stderr, and makes a token from the input. */
const PLUGIN = [
  `printf 'interactive: %s\\n' "$(printf %s "$KUBERNETES_EXEC_INFO" | grep -o '"interactive":[a-z]*')" >&2`,
  `printf 'Enter the code: ' >&2`,
  'read -r code',
  `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-%s"}}' "$code"`,
]

async function startAtTerminal({ stdin }: { stdin: 'terminal' | 'none' }) {
  const folder = makeTemporaryFolder()
  onTestFinished(() => folder.remove())
  const certificates = makeCertificates()
  const server = await startApiServer({ tls: { certificates } })
  onTestFinished(() => server.close())
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: folder.script('plugin', PLUGIN),
    interactiveMode: 'IfAvailable',
  }
  const ca = Buffer.from(certificates.ca).toString('base64')
  const kubeconfig = folder.write('kubeconfig', {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { exec } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
  const line = shellQuote([process.execPath, ENTRY, 'status', '--kubeconfig', kubeconfig])
  const command = stdin === 'terminal' ? line : `${line} </dev/null`
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'], HOME: folder.path, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text))
  const ended = once(child, 'close')
  return { server, child, ended, screen: () => screen, tokens: () => server.seen.map(({ headers }) => headers.authorization) }
}

test.skipIf(noTerminal || opensslMissing)('the prompt is seen while the plugin waits, and the answer reaches it', async () => {
  const { child, ended, screen, tokens } = await startAtTerminal({ stdin: 'terminal' })
  await vi.waitUntil(() => screen().includes('Enter the code: '), { timeout: 60_000 })
  expect(screen()).toContain('interactive: "interactive":true')
  expect([child.exitCode, tokens()]).toEqual([null, []])
  child.stdin.write('4711\r')
  await vi.waitUntil(() => tokens().length > 0, { timeout: 60_000 })
  expect(tokens()[0]).toBe('Bearer token-4711')
  await ended
})

test.skipIf(noTerminal || opensslMissing)(
  'control: where stdin is no terminal the plugin is told so, and reads nothing',
  async () => {
    const { child, ended, screen, tokens } = await startAtTerminal({ stdin: 'none' })
    child.stdin.write('4711\r')
    await vi.waitUntil(() => tokens().length > 0 || child.exitCode !== null, { timeout: 60_000 })
    expect(screen()).toContain('interactive: "interactive":false')
    expect(tokens()).not.toContain('Bearer token-4711')
    await ended
  },
)
