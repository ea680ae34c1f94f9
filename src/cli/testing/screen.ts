/** A terminal, as far as the live table uses it. The text shows the screen as an operator would see it. */
export interface Screen {
  columns: number
  rows: number
  backlog: number
  write(text: string): void
  /** Returns all lines since the start, including those that scrolled away. */
  text(): string
}

// oxlint-disable-next-line no-control-regex -- escape sequences are what this reads
const SEQUENCE = /\u001b\[(\??[\d;]*)([A-Za-z])/y

export function createScreen(columns = 80, rows = 24): Screen {
  const lines: string[] = ['']
  let row = 0
  let column = 0

  function control(parameter: string, command: string): void {
    const count = Number(parameter || 1)
    if (command === 'A') row = Math.max(0, row - count)
    else if (command === 'B') row = Math.min(lines.length - 1, row + count)
    else if (command === 'G') column = count - 1
    else if (command === 'K') lines[row] = parameter === '2' ? '' : lines[row]!.slice(0, column)
    else if (!['m', 'h', 'l'].includes(command)) throw new Error(`The screen does not know the sequence [${parameter}${command}`)
  }

  function put(character: string): void {
    if (character === '\n') {
      row += 1
      column = 0
      lines[row] ??= ''
      return
    }
    lines[row] = lines[row]!.padEnd(column).slice(0, column) + character + lines[row]!.slice(column + 1)
    column += 1
  }

  return {
    columns,
    rows,
    backlog: 0,
    write: (text) => {
      for (let index = 0; index < text.length;) {
        SEQUENCE.lastIndex = index
        const sequence = SEQUENCE.exec(text)
        if (sequence === null) put(text[index++]!)
        else {
          control(sequence[1]!, sequence[2]!)
          index = SEQUENCE.lastIndex
        }
      }
    },
    text: () =>
      lines
        .map((line) => line.trimEnd())
        .join('\n')
        .trimEnd(),
  }
}
