/** The YAML examples of the README. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Rule } from '../../conformance/beds/kubernetes-process.ts'

export const readmeText = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

export const readmeYaml: readonly string[] = [...readmeText.matchAll(/^ *```yaml\n(.*?)^ *```/gms)].map(([, text]) => text!)

/** The object of this kind in the README. */
export function readmeObject<Shape>(kind: string): Shape {
  const all = readmeYaml.flatMap((text) => parseAllDocuments(text).map((one) => one.toJS() as { kind?: string }))
  const found = all.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`the README has no ${kind}`)
  return found as Shape
}

/** The rights in the README. A user of the README has only these. */
export function readmeRules(): Rule[] {
  return readmeObject<{ rules: Rule[] }>('Role').rules
}
