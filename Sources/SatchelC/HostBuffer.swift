import CSatchel
import Satchel
import SatchelStorage

/// Bytes that grow where the host will have them, so that they need not be copied when they are handed over.
struct HostBuffer: ~Copyable {
  private var start: UnsafeMutableRawPointer?
  private var count = 0
  private var capacity = 0

  deinit { free(start) }

  /// Makes room at once for what is to come; without memory for it, the next `append` says so.
  mutating func reserve(_ size: Int) { _ = grow(to: size) }

  mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
    guard let source = bytes.baseAddress else { return }
    let needed = count + bytes.count
    guard needed <= capacity || grow(to: max(needed, capacity + capacity / 2)), let start else {
      throw SatchelError(.noMemory, "no memory for \(needed) bytes")
    }
    memcpy(start + count, source, bytes.count)
    count = needed
  }

  /// - Returns: whether there is room for so many, and for the zero behind them
  private mutating func grow(to size: Int) -> Bool {
    guard size < Int.max, let room = realloc(start, size + 1) else { return false }
    preferLargePages(room, size)
    (start, capacity) = (room, size)
    return true
  }

  /// Hands the bytes over to the host.
  consuming func give(to out: UnsafeMutablePointer<satchel_buffer>) throws {
    guard start != nil || grow(to: 0), let text = start?.assumingMemoryBound(to: CChar.self) else {
      throw SatchelError(.noMemory, "no memory for an empty buffer")
    }
    text[count] = 0
    out.pointee = satchel_buffer(data: text, size: count)
    start = nil
  }
}
