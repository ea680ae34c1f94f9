import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAddress } from '../address.ts'
import { applyEdits, drainEdits, restoreEdits, serverOf, settleEdits, type Server } from './server.ts'
import { serverLinesOf, UpstreamProblem } from './upstream.ts'

const FILE = `# upstream web { server 10.9.9.9:1; }
upstream api { server 10.0.0.1:8080; }
map $x $y { default "a;{b}"; '#' c\\;d; }
upstream web {
  least_conn; # server 10.9.9.9:2;
  server 10.0.0.1:8080 weight=5 max_fails=3;
  server 10.0.0.2:8080;server 10.0.0.3; server "[fd00::5]:8080" backup ;  # rack 3
  server  10.0.0.4:8080
    # of the old rack
    slow_start=30s
    ;
  server unix:/run/app.sock; server Web-9.example:80 resolve;
  server 10.0.0.6:8080 down;
  server 10.0.0.7:8080 down; # sluice ab12cd34.100
  server 10.0.0.8:8080; # sluice ab12cd34.100
  keepalive 16 ; server 10.0.0.9:8080; }
server { listen 80; location / { proxy_pass http://web; set $a \${b}; } }
`

const BOOT = 'ab12cd34'

function read(text: string, oldestWorker = 200, boot = BOOT): Map<string, Server> {
  return new Map(
    serverLinesOf(text, 'web').map((line) => [formatAddress(line.at), serverOf(line, { boot, ticks: oldestWorker })]),
  )
}

describe('what is read', () => {
  test('addresses, states and words', () => {
    expect([...read(FILE)].map(([name, { state, becomes, prior, weight }]) => [name, state, becomes, prior, weight])).toEqual([
      ['10.0.0.1:8080', 'in', 'in', ['weight=5', 'max_fails=3'], 5],
      ['10.0.0.2:8080', 'in', 'in', [], 1],
      ['10.0.0.3:80', 'in', 'in', [], 1],
      ['[fd00::5]:8080', 'in', 'in', ['backup'], 1],
      ['10.0.0.4:8080', 'in', 'in', ['slow_start=30s'], 1],
      ['web-9.example:80', 'in', 'in', ['resolve'], 1],
      ['10.0.0.6:8080', 'out', 'out', ['down'], 1],
      ['10.0.0.7:8080', 'draining', 'draining', [], 1],
      ['10.0.0.8:8080', 'in', 'in', [], 1],
      ['10.0.0.9:8080', 'in', 'in', [], 1],
    ])
  })

  test.each([
    [100, 'a worker that is as old as the mark has not loaded the line', ['in', 'draining'], ['draining', 'in']],
    [101, 'a newer one has', ['draining', 'draining'], ['in', 'in']],
  ])('oldest worker %i: %s', (oldest, _, down, up) => {
    const servers = read(FILE, oldest)
    const statesOf = (name: string) => [servers.get(name)!.state, servers.get(name)!.becomes]
    expect([statesOf('10.0.0.7:8080'), statesOf('10.0.0.8:8080')]).toEqual([down, up])
  })

  test('a mark of another boot: a drain may be in effect or not, and a restore is', () => {
    const servers = read(FILE, 1_000, '00ff00ff')
    const statesOf = (name: string) => [servers.get(name)!.state, servers.get(name)!.becomes]
    expect([statesOf('10.0.0.7:8080'), statesOf('10.0.0.8:8080')]).toEqual([
      ['in', 'draining'],
      ['in', 'in'],
    ])
    const edits = drainEdits(servers.get('10.0.0.7:8080')!, 'down', { boot: '00ff00ff', ticks: 5 })
    expect(applyEdits(FILE, edits)).toBe(FILE.replace('down; # sluice ab12cd34.100', 'down; # sluice 00ff00ff.5'))
  })

  test.each([
    ['down;', 'out'],
    ['drain;', 'out'],
    ['weight=2 down; # rack 3', 'out'],
    ['down; # sluice ab12cd34.5', 'draining'],
    ['drain; # sluice ab12cd34.5', 'draining'],
    ['down; # sluice', 'draining'],
    ['down; # sluice ab12cd34.5 # rack 3', 'draining'],
    ['down down; # sluice ab12cd34.5', 'out'],
    ['down; # sluice is not to touch this', 'out'],
    ['down; # sluiced by hand', 'out'],
    ['down; # sluice ab12cd34.5by hand', 'out'],
    ['down;\n# sluice ab12cd34.5', 'out'],
    ['; # sluice ab12cd34.5', 'in'],
  ])('%s is %s', (words, state) => {
    expect(read(`upstream web { server 10.0.0.1:8080 ${words}\n}`).get('10.0.0.1:8080')?.state).toBe(state)
  })

  test('a file of server lines alone, which a block includes', () => {
    const text = 'server 10.0.0.1:80 weight=2;\n# more\nserver 10.0.0.2:80 down;\nserver { listen 80; server 10.0.0.3:80; }\n'
    expect(serverLinesOf(text, undefined).map(({ at, words }) => [at.address, words.map((word) => word.text)])).toEqual([
      ['10.0.0.1', ['weight=2']],
      ['10.0.0.2', ['down']],
    ])
  })

  test.each([
    ['', 'there is no upstream web: it has none'],
    ['upstream api {} upstream old {}', 'there is no upstream web: it has api, old'],
    ['http { upstream web {\n} }\nstream { upstream web {} }', 'there are several upstream web, in lines 1 and 3: move'],
    ['upstream web {\n server a:1;', 'the { of line 1 has no end'],
    ['upstream web { }\n}', 'the } of line 2 ends nothing'],
    ['\nupstream "web', 'the quote of line 2 has no end'],
  ])('%j cannot be used', (text, message) => {
    expect(() => serverLinesOf(text, 'web')).toThrow(UpstreamProblem)
    expect(() => serverLinesOf(text, 'web')).toThrow(message)
  })
})

describe('what is written', () => {
  function drain(text: string, names: readonly string[], word: 'down' | 'drain' = 'down', since = 300): string {
    const servers = read(text)
    return applyEdits(
      text,
      names.flatMap((name) => drainEdits(servers.get(name)!, word, { boot: BOOT, ticks: since })),
    )
  }
  /** Works like `restore`: it puts back the words of `before`, and removes the mark once the line is loaded. */
  function restore(text: string, before: string, names: readonly string[]): { loading: string; loaded: string } {
    const [servers, formers] = [read(text, 400), read(before)]
    const loading = applyEdits(
      text,
      names.flatMap((name) => restoreEdits(servers.get(name)!, formers.get(name)!, 'down', { boot: BOOT, ticks: 500 })),
    )
    return { loading, loaded: applyEdits(loading, [...read(loading, 600).values()].flatMap(settleEdits)) }
  }
  const NAMES = [...read(FILE)].filter(([, { state }]) => state === 'in').map(([name]) => name)

  test('each line of a file full of traps is drained, and all other bytes stay', () => {
    const drained = drain(FILE, NAMES)
    expect(drained).toBe(`# upstream web { server 10.9.9.9:1; }
upstream api { server 10.0.0.1:8080; }
map $x $y { default "a;{b}"; '#' c\\;d; }
upstream web {
  least_conn; # server 10.9.9.9:2;
  server 10.0.0.1:8080 weight=5 max_fails=3 down; # sluice ab12cd34.300
  server 10.0.0.2:8080 down; # sluice ab12cd34.300, line goes on
server 10.0.0.3 down; # sluice ab12cd34.300, line goes on
 server "[fd00::5]:8080" backup down ; # sluice ab12cd34.300  # rack 3
  server  10.0.0.4:8080
    # of the old rack
    slow_start=30s down
    ; # sluice ab12cd34.300
  server unix:/run/app.sock; server Web-9.example:80 resolve down; # sluice ab12cd34.300
  server 10.0.0.6:8080 down;
  server 10.0.0.7:8080 down; # sluice ab12cd34.100
  server 10.0.0.8:8080 down; # sluice ab12cd34.300
  keepalive 16 ; server 10.0.0.9:8080 down; # sluice ab12cd34.300, line goes on
 }
server { listen 80; location / { proxy_pass http://web; set $a \${b}; } }
`)
    expect(drain(drained, NAMES)).toBe(drained)
  })

  test('a restore brings back every byte, once it is loaded', () => {
    const clean = FILE.replace('server 10.0.0.8:8080; # sluice ab12cd34.100', 'server 10.0.0.8:8080;')
    const { loading, loaded } = restore(drain(clean, NAMES), clean, NAMES)
    expect(loaded).toBe(clean)
    expect(
      [...read(loading, 500).values()].filter(({ state, becomes }) => state === 'draining' && becomes === 'in'),
    ).toHaveLength(NAMES.length)
  })

  test('one server, and no other', () => {
    const drained = drain(FILE, ['10.0.0.3:80'], 'drain')
    expect(drained).toContain(
      'server 10.0.0.2:8080;server 10.0.0.3 drain; # sluice ab12cd34.300, line goes on\n server "[fd00::5]:8080" backup ;  # rack 3\n',
    )
    expect(restore(drained, FILE, ['10.0.0.3:80']).loaded).toBe(
      FILE.replace(' # sluice ab12cd34.100\n  keepalive', '\n  keepalive'),
    )
  })

  test('words that were changed meanwhile are put back as they were', () => {
    const before = 'upstream web { server 10.0.0.1:80 weight=5 max_fails=3;\n}'
    const changed = 'upstream web { server 10.0.0.1:80  weight=9 down ; # sluice ab12cd34.100\n}'
    expect(restore(changed, before, ['10.0.0.1:80']).loaded).toBe('upstream web { server 10.0.0.1:80 weight=5 max_fails=3 ;\n}')
    expect(restore(before, 'upstream web { server 10.0.0.1:80 down;\n}', ['10.0.0.1:80']).loading).toBe(
      'upstream web { server 10.0.0.1:80 down;\n}',
    )
  })

  test('a drain of before is put back as a drain', () => {
    const before = 'upstream web { server 10.0.0.1:80 down; # sluice ab12cd34.100\n}'
    expect(restore('upstream web { server 10.0.0.1:80;\n}', before, ['10.0.0.1:80']).loading).toBe(
      'upstream web { server 10.0.0.1:80 down; # sluice ab12cd34.500\n}',
    )
  })

  test('a line that was written and not loaded: the other way at once', () => {
    const before = 'upstream web { server 10.0.0.1:80 backup;\n}'
    const drained = drain(before, ['10.0.0.1:80'])
    const { loading } = restore(drained, before, ['10.0.0.1:80'])
    expect(loading).toBe('upstream web { server 10.0.0.1:80 backup; # sluice ab12cd34.500\n}')
    expect(drain(loading, ['10.0.0.1:80'], 'down', 700)).toBe(
      'upstream web { server 10.0.0.1:80 backup down; # sluice ab12cd34.700\n}',
    )
  })

  test('whatever the lines look like, drain and restore leave the bytes as they were', () => {
    const space = fc.constantFrom(' ', '\n', '\t', '  # a comment; {\n', '\r\n')
    // A `#` right after a word belongs to the word.
    const gap = fc.constantFrom('', ' ', '\n', ' # rack\n')
    const after = fc.oneof(gap, fc.constant('# x\n'))
    const word = fc.constantFrom('weight=3', 'backup', '"max_fails=2"', "'fail_timeout=3s'", 'slow_start=1s')
    const line = fc
      .tuple(fc.integer({ min: 0, max: 3 }), space, fc.array(fc.tuple(space, word)), gap, after)
      .map(
        ([last, first, words, before, rest]) =>
          `server${first}10.0.0.${last}:80${words.map((pair) => pair.join('')).join('')}${before};${rest}`,
      )
    const some = fc.uniqueArray(line, { minLength: 1, selector: (text) => /10\.0\.0\.\d/.exec(text)?.[0] })
    fc.assert(
      fc.property(some, gap, fc.integer({ min: 1, max: 15 }), (lines, start, picked) => {
        const text = `upstream web {${start}${lines.join('')}}\n`
        const names = [...read(text).keys()].filter((_, index) => (picked >> index) % 2 === 1)
        const drained = drain(text, names)
        expect([...read(drained, 400)].filter(([, { state }]) => state === 'draining').map(([name]) => name)).toEqual(names)
        expect(restore(drained, text, names).loaded).toBe(text)
      }),
    )
  })
})
