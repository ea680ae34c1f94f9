import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { page, pages, ROOT, type Page } from './pages.ts'

/** As GitHub makes the anchor of a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function anchors(file: string): string[] {
  const prose = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading!))
}

/** Those that stay within the repository. */
function relativeLinks(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link))
}

/** Links of a page that lead nowhere. */
function brokenLinks({ file, text }: Page): string[] {
  return relativeLinks(text).filter((link) => {
    const [path = '', fragment] = link.split('#')
    const target = path === '' ? join(ROOT, file) : resolve(ROOT, dirname(file), path)
    if (!existsSync(target)) return true
    return fragment !== undefined && !anchors(target).includes(fragment)
  })
}

test.each(pages())('every link of $file leads somewhere', (one) => {
  expect(brokenLinks(one)).toEqual([])
})

test('a link that leads nowhere is found', () => {
  const text = '[a](LICENSE) [b](docs/none.md) [c](README.md#no-such-heading) [d](https://example.com)'
  expect(brokenLinks({ file: 'README.md', text })).toEqual(['docs/none.md', 'README.md#no-such-heading'])
})

describe('the package', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--offline'], { encoding: 'utf8', cwd: ROOT })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  // Of what is built, scripts/build.test.ts knows.
  const shipped = files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'))

  /** What the shipped pages link to, from the root. */
  const linked = shipped
    .filter((path) => path.endsWith('.md'))
    .flatMap((file) =>
      relativeLinks(page(file).text).map((link) => ({ file, path: join(dirname(file), link.split('#')[0]!).replace(/\/$/, '') })),
    )

  test('holds whatever its pages link to', () => {
    expect(linked.length).toBeGreaterThan(20)
    const has = (path: string): boolean => shipped.some((one) => one === path || one.startsWith(`${path}/`))
    expect(linked.filter(({ file, path }) => path !== dirname(file) && !has(path))).toEqual([])
  })

  test('holds no source but what its pages link to', () => {
    const sources = shipped.filter((path) => path.endsWith('.ts'))
    expect(sources.filter((source) => !linked.some(({ path }) => path === source))).toEqual([])
  })
})
