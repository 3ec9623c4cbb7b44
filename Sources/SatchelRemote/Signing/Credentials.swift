import CCurl
import SatchelCore

/// The credentials of an S3 store. They never appear in messages or logs, or when printed or dumped. The
/// secrets are erased from memory when the last copy is released.
public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  public let accessKey: String
  let secretKey: Secret
  let sessionToken: Secret?
  /// When the store stops accepting them, Unix milliseconds; nil while that is unknown.
  public let expires: Int64?

  /// - Parameters:
  ///   - sessionToken: the token of temporary credentials
  ///   - expires: when the store stops accepting them, Unix milliseconds
  /// - Throws: `.failed(.invalid)` when one of them is empty or not valid in a header
  public init(
    accessKey: String, secretKey: String, sessionToken: String? = nil, expires: Int64? = nil
  ) throws(ObjectStoreError) {
    for (name, value) in [
      ("access key", accessKey), ("secret key", secretKey), ("session token", sessionToken),
    ] {
      guard let value else { continue }
      guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw ObjectStoreError(.failed(.invalid), "the \(name) is empty or not printable ASCII")
      }
    }
    guard !accessKey.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ",") }) else {
      throw ObjectStoreError(.failed(.invalid), "the access key contains \"/\" or \",\"")
    }
    self.accessKey = accessKey
    self.expires = expires
    guard let secretKey = Secret(secretKey) else { throw Self.noMemory }
    self.secretKey = secretKey
    guard let sessionToken else {
      self.sessionToken = nil
      return
    }
    guard let sessionToken = Secret(sessionToken) else { throw Self.noMemory }
    self.sessionToken = sessionToken
  }

  private static let noMemory = ObjectStoreError(.failed(.noMemory), "not enough memory for credentials")

  /// Whether a string contains any of the credentials, so that it must not be shown.
  func appear(in text: String) -> Bool {
    let text = Array(text.utf8)
    let isIn = { (part: UnsafeRawBufferPointer) in
      text.indices.contains { text[$0...].starts(with: part) }
    }
    return Array(accessKey.utf8).withUnsafeBytes(isIn) || secretKey.withBytes(isIn)
      || sessionToken?.withBytes(isIn) == true
  }

  /// Whether the others are the same keys and token.
  func areSame(as other: Credentials) -> Bool {
    accessKey == other.accessKey && secretKey.text == other.secretKey.text
      && sessionToken?.text == other.sessionToken?.text
  }

  public var description: String { "credentials" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A string that is excluded from core dumps and from printed output, and erased when it is released.
///
/// The string that it is created from remains in the caller's memory.
// Unchecked: the bytes are immutable between init and deinit.
final class Secret: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  private let pages: UnsafeMutableRawBufferPointer
  private let count: Int

  /// - Returns: nil when memory cannot be allocated
  init?(_ text: String) {
    count = text.utf8.count
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard page > 0, count <= 1 << 20 else { return nil }
    // Separate pages, because only whole pages can be excluded from core dumps.
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

  /// A copy, which is not erased.
  var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

  var description: String { "secret" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
  /// Overwrites the bytes in place. A copy that shares the storage keeps them.
  mutating func erase() {
    withUnsafeMutableBytes { ccurl_erase($0.baseAddress, $0.count) }
  }
}
