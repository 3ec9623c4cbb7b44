import Satchel

/// Reading of whole files.
enum FileBytes {
  /// The largest text that a story may have.
  private static let largest = 2 << 30

  /// What a file holds, be it a pipe.
  ///
  /// - Throws: `SatchelError` `.io` with the system's reason, and without the file's name
  static func contents(of path: FilePath) throws -> [UInt8] {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw SatchelError(.io, reason(errno)) }
    defer { close(descriptor) }
    return try contents(of: descriptor)
  }

  static func contents(of descriptor: CInt) throws -> [UInt8] {
    var facts = stat()
    let expected = fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    guard expected <= largest else { throw SatchelError(.io, "larger than 2 GiB") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(expected + 1)
    // One more than expected, so that the end shows at the second call.
    var chunk = [UInt8](repeating: 0, count: min(max(expected + 1, 1 << 16), 1 << 22))
    while true {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SatchelError(.io, reason(errno)) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<count])
      guard bytes.count <= largest else { throw SatchelError(.io, "larger than 2 GiB") }
    }
  }

  /// "permission denied".
  static func reason(_ number: CInt) -> String {
    guard let text = strerror(number) else { return "error \(number)" }
    let words = String(cString: text)
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
