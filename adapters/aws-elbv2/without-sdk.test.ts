/* Tests the errors of a separate process without the SDK, before it changes anything. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChild } from '../../src/cli/testing/child.ts'

const SLUICE = join(import.meta.dirname, '../../src/cli/sluice.ts')
const CLIENT = '@aws-sdk/client-elastic-load-balancing-v2'
/** Hides the packages that are installed for the tests, except for packages in the folder of the config. */
const HIDE = `
const Module = require('node:module')
const resolve = Module._resolveFilename
Module._resolveFilename = function (name, parent, ...rest) {
  const isHidden = name.startsWith('@aws-sdk/') && !parent?.filename?.startsWith(__dirname)
  if (isHidden) throw Object.assign(new Error('Cannot find module ' + name), { code: 'MODULE_NOT_FOUND' })
  return resolve.call(this, name, parent, ...rest)
}
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-aws-sdk-'))
  writeFileSync(join(folder, 'hide.cjs'), HIDE)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function sluice(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = startChild(['--require', join(folder, 'hide.cjs'), SLUICE, ...args])
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

/** Runs a plan with a missing kubeconfig. sluice reads the kubeconfig after the config. */
function plan(options: string): ReturnType<typeof sluice> {
  const arn = 'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef'
  const loadBalancer = `{name: edge, adapter: aws-elbv2, port: 80, options: {targetGroups: ['${arn}']${options}}}`
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, `apiVersion: sluice.dev/v1\nkind: Config\nloadBalancers:\n  - ${loadBalancer}\n`)
  return sluice('plan', 'statefulset/web', 'app=app:v2', '--config', file, '--kubeconfig', join(folder, 'none'))
}

function install(name: string, code: string): void {
  const own = join(folder, 'node_modules', name)
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'index.js'), code)
}

test('adapter describe needs no SDK', async () => {
  const { code, stdout } = await sluice('adapter', 'describe', 'aws-elbv2')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^aws-elbv2: AWS Application and Network Load Balancers/)
  expect(stdout).toMatch(/^ {2}targetGroups {2}list of string, required$/m)
  expect(stdout).toMatch(/^ {2}deregistrationDelay {2}string, default "?300s"?$/m)
})

test('a config that names it is refused at its place, with the command that installs it', async () => {
  const { code, stdout, stderr } = await plan('')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(
    `sluice.yaml:4:27: loadBalancers[0].adapter: adapter aws-elbv2 cannot be loaded: the package ${CLIENT} is not installed`,
  )
  expect(stderr).toContain(`npm install ${CLIENT}, in ${folder} or above it`)
})

test('it is found in the folder of the config; the package of roles is asked for where a role is named', async () => {
  install(CLIENT, 'exports.ElasticLoadBalancingV2Client = class {}')
  const withClient = await plan('')
  expect(withClient.stderr).not.toContain('cannot be loaded')
  expect(withClient.stderr).toContain(join(folder, 'none'))
  const { code, stderr } = await plan(", roleArn: 'arn:aws:iam::123456789012:role/lb'")
  expect(code).toBe(2)
  expect(stderr).toContain('the package @aws-sdk/credential-providers is not installed')
})

test('a package that is broken is told as that', async () => {
  install(CLIENT, 'throw new Error("half unpacked")')
  const { code, stderr } = await plan('')
  expect(code).toBe(2)
  expect(stderr).toContain(`the package ${CLIENT} cannot be loaded: half unpacked`)
})
