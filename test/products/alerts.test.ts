import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { runCommand } from '../cluster/run-command.ts'
import { ALERTS, ruleFiles, rules } from '../alerts/deployed.ts'
import { findPromtool } from './find-promtool.ts'
import { describeOn } from './program.ts'

describeOn(findPromtool(), (promtool) => {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  /** Tells whether the tests of a file pass on its rules with another expression for one alert. */
  async function passes(file: string, alert: string, expr: string): Promise<boolean> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-alerts-'))
    folders.push(folder)
    cpSync(ALERTS, folder, { recursive: true })
    const document = parseDocument(readFileSync(join(folder, file), 'utf8'))
    const index = rules()
      .filter((rule) => rule.file === file)
      .findIndex((rule) => rule.alert === alert)
    document.setIn(['groups', 0, 'rules', index, 'expr'], expr)
    document.setIn(['groups', 0, 'rules', index, 'for'], '0s')
    writeFileSync(join(folder, file), String(document))
    return runCommand(promtool, ['test', 'rules', join(folder, 'tests', file)]).then(
      () => true,
      () => false,
    )
  }

  test('the rules are rules', async () => {
    const { stdout } = await runCommand(promtool, ['check', 'rules', ...ruleFiles().map((file) => join(ALERTS, file))])
    expect(stdout.match(/SUCCESS/g)).toHaveLength(ruleFiles().length)
  })

  test('each file of rules has tests, and they pass', async () => {
    expect(readdirSync(join(ALERTS, 'tests')).toSorted()).toEqual(ruleFiles().toSorted())
    const { stdout } = await runCommand(promtool, ['test', 'rules', ...ruleFiles().map((file) => join(ALERTS, 'tests', file))])
    expect(stdout.match(/SUCCESS/g)).toHaveLength(ruleFiles().length)
  })

  // A test lists all alerts that fire at an instant, so an alert that fires in some tests and is silent in others is tested both ways.
  test.each(ruleFiles())('%s: each alert fires in a test', (file) => {
    const text = readFileSync(join(ALERTS, 'tests', file), 'utf8')
    for (const alert of alertsOf(file)) expect(text).toContain(`{labels: '{alertname="${alert}"}', value: 1}`)
    expect(text).toContain('exp_samples: []')
  })

  test.each(ruleFiles())('control: the tests of %s fail where an alert never fires, and where it always does', async (file) => {
    const alert = alertsOf(file).at(-1)!
    expect(await passes(file, alert, 'vector(1) < 0')).toBe(false)
    expect(await passes(file, alert, 'vector(1)')).toBe(false)
  })

  function alertsOf(file: string): string[] {
    return rules().flatMap((rule) => (rule.file === file && rule.alert !== undefined ? [rule.alert] : []))
  }
})
