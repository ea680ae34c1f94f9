interface ParsedSample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface Family {
  type: string
  samples: ParsedSample[]
}

const LABEL = /(\w+)="((?:[^"\\\n]|\\.)*)"/
const SAMPLE = new RegExp(`^(\\w+)(?:\\{(${LABEL.source}(?:,${LABEL.source})*)?\\})? (\\S+)$`)
const SUFFIXES: Record<string, string[]> = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }
const NUMBERS: Record<string, number> = { '+Inf': Infinity, '-Inf': -Infinity }
const ESCAPES: Record<string, string> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' }

/** Parses the text format of Prometheus. @throws Error on a line of no known form, and on a sample without a type before it */
export function parseMetrics(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  if (!text.endsWith('\n')) throw new Error('the text does not end with its last line')
  let current: [string, Family] | undefined
  for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('# HELP '))) {
    const [, name, type] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? []
    if (name !== undefined) {
      if (families.has(name)) throw new Error(`two families ${name}`)
      current = [name, { type: type!, samples: [] }]
      families.set(...current)
    } else {
      const sample = parseSample(line)
      const suffixes = SUFFIXES[current?.[1].type ?? ''] ?? ['']
      if (!suffixes.some((suffix) => sample.name === `${current?.[0]}${suffix}`)) throw new Error(`no type before: ${line}`)
      current![1].samples.push(sample)
    }
  }
  return families
}

function parseSample(line: string): ParsedSample {
  const match = SAMPLE.exec(line)
  if (match === null) throw new Error(`not a sample: ${line}`)
  const labels = [...(match[2] ?? '').matchAll(new RegExp(LABEL, 'g'))].map(([, name, value]) => [
    name!,
    value!.replace(/\\[\\"n]/g, (escape) => ESCAPES[escape]!),
  ])
  const text = match.at(-1)!
  const value = NUMBERS[text] ?? Number(text)
  if (Number.isNaN(value) && text !== 'NaN') throw new Error(`no number: ${line}`)
  return { name: match[1]!, labels: Object.fromEntries(labels), value }
}
