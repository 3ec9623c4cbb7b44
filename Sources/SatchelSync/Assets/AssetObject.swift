import SatchelCore
import SatchelRemote

/// The name of an object with sealed assets, below "assets/{user}/": the log and the fence of the head that its writer
/// had read, and a random part. A name is used once: a write or a deletion that takes effect late meets no other object.
struct AssetObject: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// 16 hexadecimal digits.
  let log: String
  /// The fence of the head, 0 to 2^52.
  let fence: Int64
  /// 32 hexadecimal digits.
  let name: String

  /// A new name.
  init(log: String, fence: Int64) {
    (self.log, self.fence, name) = (log, fence, HexadecimalName.random(digits: 32))
  }

  /// Reads "{log, 16 digits}.{fence, 16 digits}/{32 digits}".
  ///
  /// - Returns: nil for any other text
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 66, bytes[16] == UInt8(ascii: "."), bytes[33] == UInt8(ascii: "/") else {
      return nil
    }
    func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    let (log, fence, name) = (part(0..<16), part(17..<33), part(34..<66))
    guard HexadecimalName.isName(log, digits: 16), HexadecimalName.isName(fence, digits: 16),
      HexadecimalName.isName(name, digits: 32), let number = Int64(fence, radix: 16),
      SyncPack.numbers.contains(number)
    else { return nil }
    (self.log, self.fence, self.name) = (log, number, name)
  }

  var description: String {
    let fence = String(fence, radix: 16)
    return "\(log).\(String(repeating: "0", count: 16 - fence.utf8.count))\(fence)/\(name)"
  }

  /// The key of all objects of a user.
  static func prefix(_ user: UserID) throws(ObjectStoreError) -> ObjectPrefix {
    try ObjectPrefix("assets/\(user)/")
  }

  func key(_ user: UserID) throws(ObjectStoreError) -> ObjectKey { try ObjectKey("assets/\(user)/\(self)") }

  /// In the order of their keys.
  static func < (one: Self, other: Self) -> Bool {
    (one.log, one.fence, one.name) < (other.log, other.fence, other.name)
  }
}
