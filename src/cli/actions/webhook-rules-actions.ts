import { readConfigFile } from '../../config/read-config-file.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { rulesSummaryWords } from '../../report/words/webhook.ts'
import { parseRuleSet } from '../../webhook/rules/parse-rule-set.ts'
import type { RuleSet } from '../../webhook/rules/rule-set.ts'
import type { CheckRulesFlags } from '../arguments/flags.ts'
import type { CommandContext } from '../commands/context.ts'
import { API_VERSION } from '../output/api-version.ts'
import { inert, inertJson } from '../output/inert.ts'

const READING = { what: 'a document of rules', choice: 'name the file of the rules' }

/** @throws ConfigError where the file cannot be read, RulesError with all mistakes of the rules */
export async function checkRulesAction(
  file: string,
  { output }: CheckRulesFlags,
  { terminal }: CommandContext,
): Promise<ExitCode> {
  const rules = await readRules(file)
  if (output === 'json')
    terminal.out.write(`${inertJson({ apiVersion: API_VERSION, kind: 'EndpointRulesCheck', ...summaryOf(rules) })}\n`)
  else for (const line of rulesSummaryWords(summaryOf(rules))) terminal.out.write(`${inert(line)}\n`)
  return EXIT.done
}

export async function readRules(file: string): Promise<RuleSet> {
  const bytes = await readConfigFile(file, READING)
  return parseRuleSet(new TextDecoder().decode(bytes), file)
}

function summaryOf({ version, mode, rules }: RuleSet) {
  return {
    version,
    mode,
    rules: rules.map(({ name, effect, when, reads }) => ({ name, effect, when, reads: [...reads].toSorted() })),
  }
}
