// Copies the declarations of JSON output into docs/json.md, below the comment that names each.
//   node scripts/write-json-page.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const PAGE = join(root, 'docs/json.md')
const NAMED = /^<!-- ([\w./-]+\.ts): ([\w, ]+) -->\n(?:\n```ts\n[\s\S]*?^```\n)?/gm

/** Returns the up-to-date page. */
export function currentPage(): string {
  return readFileSync(PAGE, 'utf8').replace(NAMED, (_, file: string, names: string) => {
    const source = readFileSync(join(root, file), 'utf8')
    const found = names.split(', ').map((name) => declaration(source, name, file))
    return `<!-- ${file}: ${names} -->\n\n\`\`\`ts\n${found.join('\n\n')}\n\`\`\`\n`
  })
}

/**
 * Returns a declaration with its docstring. The declaration ends before the next line that begins with neither space, comment nor
 * bracket, as the formatter writes it.
 */
function declaration(source: string, name: string, file: string): string {
  const start = new RegExp(String.raw`^((?:/\*\*(?:[^*]|\*(?!/))*\*/\n)?)export ((?:interface|type) ${name}\b)`, 'm').exec(source)
  if (start === null) throw new Error(`${file} declares no ${name}, which docs/json.md names`)
  const [whole, comment, head] = start
  const lines = source.slice(start.index + whole.length).split('\n')
  const end = lines.findIndex((line, index) => index > 0 && !/^(?: |\})/.test(line))
  return `${comment}${head}${lines.slice(0, end).join('\n')}`
}

if (process.argv[1] === join(import.meta.dirname, 'write-json-page.ts')) {
  writeFileSync(PAGE, currentPage())
  console.log('docs/json.md is written')
}
