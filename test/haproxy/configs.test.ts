import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configuration as bedConfiguration } from '../../adapters/conformance/beds/haproxy-process.ts'
import { configuration as demoConfiguration } from '../../demo/balancers/haproxy.ts'
import { haproxyConfig } from '../cluster/haproxy-config.ts'
import { describeOnEachHaproxy } from './versions.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const SERVER = '127.0.0.2:80'

/** Every config that this repository writes for a HAProxy. */
const CONFIGS = {
  'the test beds': () =>
    bedConfiguration(folder, { endpoints: [{ uid: 'uid-0', pod: 'web-0', address: '127.0.0.2', port: 80 }] }),
  'the real cluster, and the benchmarks': () =>
    haproxyConfig({
      port: 8080,
      backends: ['web', 'other'].map((name) => ({
        name,
        servers: [{ name: 'web-0', address: SERVER, weight: 3, disabled: true }],
      })),
      sockets: [join(folder, 'own.sock'), join(folder, 'admin.sock')],
      operatorSocket: join(folder, 'operator.sock'),
      stateFile: join(folder, 'state'),
      checks: true,
    }),
  'the demo': () => demoConfiguration({ socket: join(folder, 'a.sock'), port: 8080, pods: [{ name: 'web-0', address: SERVER }] }),
}

function check(program: string, config: string): { status: number | null; said: string } {
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, config)
  // The version of its format, as HAProxy itself writes it.
  writeFileSync(join(folder, 'state'), '1\n')
  const { status, stdout, stderr } = spawnSync(program, ['-c', '-f', file], { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

await describeOnEachHaproxy((program) => {
  test.each(Object.entries(CONFIGS))('the config of %s is taken without a warning', (_, config) => {
    const { status, said } = check(program, config())
    expect(status, said).toBe(0)
    expect(said).not.toMatch(/warning/i)
  })

  test('a config that it does not take is refused (negative control)', () => {
    expect(check(program, `${CONFIGS['the demo']()}\nno-such-keyword\n`)).toMatchObject({
      status: 1,
      said: expect.stringContaining('no-such-keyword'),
    })
  })
})
