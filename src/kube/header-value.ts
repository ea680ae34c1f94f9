/**
 * True if a header can carry the text: it contains no control characters, because the request would not be sent, and no blanks at its ends,
 * because they get lost. A lost user name such as `--as ' '` would give the request the caller's own rights.
 */
export function fitsHeader(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[\x00-\x1f\x7f]|^ | $/.test(text)
}
