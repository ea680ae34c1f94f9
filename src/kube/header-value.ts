/**
 * A header holds no line break, nor another control character: nothing would be sent. And blanks at its ends do not arrive. Found by
 * trial: `--as ' '` acted with the rights of whoever asked, where kubectl is refused.
 */
export function fitsHeader(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[\x00-\x1f\x7f]|^ | $/.test(text)
}
