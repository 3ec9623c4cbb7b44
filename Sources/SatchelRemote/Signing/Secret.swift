import CCurl
import SatchelStorage

/// A text that is kept out of dumps of memory and of everything that is printed, and erased when nobody needs it.
///
/// What the caller made it of is the caller's to forget.
// Unchecked: the bytes do not change between making and erasing.
final class Secret: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  private let pages: UnsafeMutableRawBufferPointer
  private let count: Int

  /// - Returns: nil without memory
  init?(_ text: String) {
    count = text.utf8.count
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard page > 0, count <= 1 << 20 else { return nil }
    // Pages of its own, because only whole ones can be kept out of dumps.
    let size = (count / page + 1) * page
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let memory, memory != MAP_FAILED else { return nil }
    pages = UnsafeMutableRawBufferPointer(start: memory, count: size)
    #if os(Linux)
      madvise(memory, size, MADV_DONTDUMP)
    #endif
    pages.copyBytes(from: text.utf8)
  }

  deinit {
    ccurl_erase(pages.baseAddress, pages.count)
    munmap(pages.baseAddress, pages.count)
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(rebasing: pages[..<count]))
  }

  /// A copy that lives on.
  var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

  var description: String { "secret" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
  /// Overwrites what is no longer needed. Only in place: a copy that shares the bytes keeps them.
  mutating func erase() {
    withUnsafeMutableBytes { ccurl_erase($0.baseAddress, $0.count) }
  }
}
