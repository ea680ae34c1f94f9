import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { trialCommands, trialConfig, trialKubeconfig } from './trial.ts'

test('the config is one that sluice takes, and a shell the commands', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice trial-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'sluice.yaml')
  writeFileSync(config, trialConfig('/run/own.sock'))
  await expect(loadConfig(config)).resolves.toMatchObject({ file: config })
  const program = join(folder, 'print.cjs')
  writeFileSync(program, 'console.log(process.env.KUBECONFIG, process.env.SLUICE_CONFIG, ...process.argv.slice(2))')
  const commands = trialCommands({ kubeconfig: '/a b', config, node: process.execPath, program })
  const said = execFileSync('/bin/sh', ['-c', commands.join('\n')], { encoding: 'utf8' })
  expect(said.split('\n')[0]).toBe(`/a b ${config} plan -n demo statefulset/web app=localhost/app:v2`)
})

test('the namespace is that of its context, and all else is as it was', () => {
  const before = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    contexts: [{ name: 'admin', context: { cluster: 'c', user: 'admin' } }],
    'current-context': 'admin',
  }
  const contexts = [{ name: 'admin', context: { cluster: 'c', user: 'admin', namespace: 'demo' } }]
  expect(JSON.parse(trialKubeconfig(JSON.stringify(before), 'demo'))).toEqual({ ...before, contexts })
})
