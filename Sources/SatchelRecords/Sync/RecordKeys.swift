import SatchelCore
import SatchelRemote
import SatchelStorage

/// The keys of one collection's objects: "records/{user}/{collection}/{id}.json".
///
/// Of an id the bytes A-Z, a-z, 0-9, "_" and "-" stand for themselves, and so does a "." that is not the first;
/// every other byte of its UTF-8 is "%" and two digits. So each id has one key, and no two have the same.
struct RecordKeys: Sendable {
  /// What all keys begin with.
  let prefix: ObjectPrefix
  private static let suffix = ".json"

  /// - Parameter collection: a name of a-z, 0-9 and "_"
  init(user: UserID, collection: String) throws {
    prefix = try ObjectPrefix("records/\(user)/\(collection)/")
  }

  /// - Throws: `ObjectStoreError` (`invalidKey`) for an id that is none
  func key(_ id: String) throws(ObjectStoreError) -> ObjectKey {
    guard Self.isID(id) else {
      throw ObjectStoreError(.invalidKey, "an id has 1 to 255 bytes, none a control")
    }
    return try ObjectKey(prefix.text + Self.encoded(id) + Self.suffix)
  }

  /// The record that an object is of; nil when it is none.
  func id(_ key: ObjectKey) -> String? {
    let bytes = Array(key.text.utf8)
    let (front, back) = (Array(prefix.text.utf8), Array(Self.suffix.utf8))
    guard bytes.count > front.count + back.count, bytes.starts(with: front) else { return nil }
    guard bytes.suffix(back.count).elementsEqual(back) else { return nil }
    let name = bytes[front.count..<(bytes.count - back.count)]
    guard let id = Self.decoded(name), Self.isID(id), Self.encoded(id).utf8.elementsEqual(name) else {
      return nil
    }
    return id
  }

  /// What stands behind the prefix, for messages.
  func name(_ key: ObjectKey) -> String {
    String(decoding: key.text.utf8.dropFirst(prefix.text.utf8.count), as: UTF8.self)
  }

  /// 1 to 255 bytes without control characters.
  static func isID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
  }

  private static func encoded(_ id: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var name: [UInt8] = []
    for byte in id.utf8 {
      if isPlain(byte) || (byte == UInt8(ascii: ".") && !name.isEmpty) {
        name.append(byte)
      } else {
        name += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  private static func decoded(_ name: ArraySlice<UInt8>) -> String? {
    var (bytes, rest) = ([UInt8](), name)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}
