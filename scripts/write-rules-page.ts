// Writes the tables of docs/rules.md, from the declarations of the variables, the functions, the shipped rules and the limits.
//   node scripts/write-rules-page.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fieldWords, functionWords, shippedRuleWords, variableWords } from '../src/report/words/rule-language.ts'
import { TYPES, VARIABLES } from '../src/webhook/rules/environment.ts'
import { LIMITS } from '../src/webhook/rules/limits.ts'
import { celTypeOf } from '../src/webhook/rules/message-type.ts'
import { RULE_FUNCTIONS } from '../src/webhook/rules/rule-functions.ts'
import { SHIPPED_RULES } from '../src/webhook/rules/shipped.ts'

const PAGE = join(resolve(import.meta.dirname, '..'), 'docs/rules.md')
const PART = /^<!-- (\w+) -->\n[\s\S]*?^<!-- end -->$/gm

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function wordsOf<Words>(all: Readonly<Record<string, Words>>, name: string): Words {
  const words = all[name]
  if (words === undefined) throw new Error(`src/report/words/rule-language.ts has no words for ${name}`)
  return words
}

const PARTS: Readonly<Record<string, () => string>> = {
  variables: () =>
    table(
      ['variable', 'type', 'what it is'],
      Object.entries(VARIABLES).map(([name, { type }]) => [
        `\`${name}\``,
        `\`${celTypeOf(type)}\``,
        wordsOf(variableWords, name),
      ]),
    ),
  types: () =>
    table(
      ['type', 'fields'],
      TYPES.map(({ name, fields }) => [
        `\`${name}\``,
        Object.entries(fields)
          .map(([field, type]) => {
            const says = fieldWords[`${name}.${field}`]
            return `\`${field}\` ${celTypeOf(type)}${says === undefined ? '' : ` (${says})`}`
          })
          .join(', '),
      ]),
    ),
  functions: () =>
    table(
      ['function', 'what it gives'],
      RULE_FUNCTIONS.map(({ signature }) => [`\`${signature}\``, wordsOf(functionWords, signature)]),
    ),
  shipped: () =>
    table(
      ['rule', 'what it does', 'parameters'],
      Object.keys(SHIPPED_RULES).map((name) => {
        const { says, parameters } = wordsOf(shippedRuleWords, name)
        const docs = Object.entries(parameters).map(([parameter, doc]) => `\`${parameter}\`: ${doc}`)
        return [`\`${name}\``, says, docs.join('; ') || 'none']
      }),
    ),
  limits: () =>
    table(
      ['limit', 'value'],
      [
        ['bytes of a document', String(LIMITS.documentBytes)],
        ['rules of a document', String(LIMITS.rules)],
        ['characters of an expression', String(LIMITS.expressionCharacters)],
        ['parts of an expression', String(LIMITS.expressionNodes)],
        ['depth of an expression', String(LIMITS.expressionDepth)],
        ['steps of an expression for one endpoint', String(LIMITS.expressionSteps)],
        ['steps of all rules for one object', String(LIMITS.decisionSteps)],
        ['longest `for` of `keepPrevious`', `${LIMITS.keepMs / 3_600_000} h`],
      ],
    ),
}

export function currentRulesPage(): string {
  return readFileSync(PAGE, 'utf8').replace(PART, (_all, name: string) => `<!-- ${name} -->\n\n${PARTS[name]!()}\n\n<!-- end -->`)
}

if (import.meta.main) writeFileSync(PAGE, currentRulesPage())
