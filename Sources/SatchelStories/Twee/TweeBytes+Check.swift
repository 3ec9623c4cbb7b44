import CUTF8Proc
import SatchelJSON
import SatchelStorage

extension TweeBytes {
  /// - Throws: `SatchelError` `.invalid` with the place of the first NUL, or of what is no UTF-8.
  func checkText() throws {
    if let nul = find(0, from: 0, to: count) { throw failure("a NUL", at: nul) }
    guard let base = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    var index = 0
    while index < count {
      if index + 8 <= count,
        source.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      {
        index += 8
      } else if source[index] < 0x80 {
        index += 1
      } else {
        var scalar: utf8proc_int32_t = 0
        let length = utf8proc_iterate(base + index, utf8proc_ssize_t(count - index), &scalar)
        guard length > 0 else { throw failure("no UTF-8", at: index) }
        index += Int(length)
      }
    }
  }

  func failure(_ cause: String, at offset: Int) -> SatchelError {
    let error = JSONError(cause, position: JSONPosition(offset: offset, in: source))
    return SatchelError(.invalid, "not Twee: \(error)", underlying: error)
  }
}
