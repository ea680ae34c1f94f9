/** Describes a mistake that the YAML parser found, with a hint and without the content of the file, which may be a secret. */
import type { YAMLError } from 'yaml'

const HINTS: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_DQ_ESCAPE: 'write \\\\ for a single \\, or put the text in single quotes',
  BAD_SCALAR_START: 'put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text with ": " in it needs quotes; the keys of one mapping begin in the same column',
  MULTILINE_IMPLICIT_KEY: 'write key: value on one line, and put a text of several lines in quotes',
  TAG_RESOLVE_FAILED: 'a text that begins with ! needs quotes',
}

export const NESTED_TOO_DEEP = 'YAML: nested too deep'

/** The error of a stack overflow, possibly within the parser's regular expressions; the parser passes it on unchanged. */
const STACK_RAN_OUT = /^Maximum call stack|^Invalid regular expression: .*(?:Stack overflow|call stack)/s

const OTHERWISE = 'a text with special characters needs quotes; what belongs together is indented alike'

export function yamlMistake({ code, message }: YAMLError): { message: string; hint: string } {
  if (STACK_RAN_OUT.test(message)) return { message: NESTED_TOO_DEEP, hint: 'is this the right file?' }
  if (code === 'TAG_RESOLVE_FAILED') return { message: 'YAML: a tag (!) means nothing in a config', hint: HINTS[code]! }
  return { message: `YAML: ${withoutSource(message)}`, hint: HINTS[code] ?? hintFor(message) }
}

function withoutSource(message: string): string {
  return message.replace(/(?<=\w)(?:: .*| \\.*)$/s, '')
}

/** The hint for a code that has several meanings. */
function hintFor(message: string): string {
  if (/end with a [\]}]/.test(message)) return 'close what is open: [ with ], { with }'
  if (message.startsWith('Missing closing')) return 'close the text with the quote that it begins with'
  if (message.startsWith('Implicit map keys need')) return 'write key: value'
  return OTHERWISE
}
