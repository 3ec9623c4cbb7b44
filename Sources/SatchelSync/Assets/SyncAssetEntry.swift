import SatchelAssets
import SatchelCore
import SatchelJSON

/// The entry of an asset in the sync log, of the collection "@asset": it says in which object the bytes are. Its id is
/// the SHA-256.
struct SyncAssetEntry: Sendable, Equatable {
  /// A sealed content in an object.
  struct Location: Sendable, Equatable {
    var object: AssetObject
    /// Where it begins in the object.
    var offset: Int64 = 0
    /// The length of all sealed contents that the object was written with.
    var of: Int64
    /// The key of the content, 32 bytes.
    var key: [UInt8]
  }

  /// The name of an object to which a large content is being uploaded, which may take several syncs.
  struct Reservation: Sendable, Equatable {
    var object: AssetObject
    var key: [UInt8]
    /// The name of the store that began it.
    var writer: String
  }

  static let maximumReservations = 3
  /// The maximum size of an object with several contents.
  static let maximumBundle: Int64 = 64 << 20

  let size: Int64
  /// Nil while the bytes are not in the remote.
  var location: Location?
  /// At most `maximumReservations`, the oldest first. A device that has the bytes uploads to the first one.
  var reservations: [Reservation] = []
  /// Whether a device could not read the object.
  var isSuspect = false
  /// The number of the first head since which nothing has referred to the asset; nil while something does.
  var unused: Int64?
  /// Whether devices store the bytes encrypted.
  var isSensitive = false
  /// Unknown members, preserved.
  var others: [UInt8] = []

  init(size: Int64, location: Location? = nil) { (self.size, self.location) = (size, location) }

  var layout: AssetLayout { AssetLayout(size: size) }

  /// The bytes of the object that the content has.
  func range(_ location: Location) -> Range<Int64> { location.offset..<location.offset + layout.length }

  /// The objects that it names.
  var objects: [AssetObject] { (location.map { [$0.object] } ?? []) + reservations.map(\.object) }

  /// Whether the content can be read.
  var isReadable: Bool { location != nil && !isSuspect }

  mutating func reserve(_ reservation: Reservation) {
    reservations = Array((reservations + [reservation]).suffix(Self.maximumReservations))
  }

  /// The content, whose size is known now, is in an object: nothing else is named any more.
  func located(at location: Location, size: Int64) -> SyncAssetEntry {
    var entry = SyncAssetEntry(size: size, location: location)
    (entry.others, entry.isSensitive) = (others, isSensitive)
    return entry
  }
}

extension SyncAssetEntry {
  private static let known = [
    "size", "object", "offset", "length", "of", "key", "next", "suspect", "unused", "sensitive",
  ]
  private static let memberLimit = 32

  /// A JSON object.
  func serialized() -> [UInt8] {
    var members = ["\"size\":\(size)"]
    if let location {
      members += [
        "\"object\":\"\(location.object)\"", "\"offset\":\(location.offset)", "\"length\":\(layout.length)",
        "\"of\":\(location.of)", "\"key\":\"\(location.key.hexadecimal)\"",
      ]
    }
    if !reservations.isEmpty {
      let texts = reservations.map { next in
        var writer: [UInt8] = []
        JSONValue.write(next.writer, into: &writer)
        return "{\"object\":\"\(next.object)\",\"key\":\"\(next.key.hexadecimal)\",\"writer\":"
          + String(decoding: writer, as: UTF8.self) + "}"
      }
      members.append("\"next\":[\(texts.joined(separator: ","))]")
    }
    if isSuspect { members.append("\"suspect\":true") }
    if isSensitive { members.append("\"sensitive\":true") }
    if let unused { members.append("\"unused\":\(unused)") }
    return Array("{\(members.joined(separator: ","))".utf8) + others + [UInt8(ascii: "}")]
  }

  /// Reads the document of an entry, as untrusted input.
  ///
  /// - Throws: `SatchelError` (`damaged`)
  init(parsing document: [UInt8]) throws {
    self = try document.withUnsafeBytes {
      try SyncAssetEntry(SyncMembers($0, of: "asset", limit: Self.memberLimit))
    }
  }

  private init(_ members: SyncMembers) throws {
    size = try members.integer("size", 0...AssetLayout.maximumSize)
    if members.raw("object") != nil { location = try Self.location(members, AssetLayout(size: size)) }
    if members.raw("next") != nil {
      for (index, raw) in try members.elements("next", limit: Self.maximumReservations).enumerated() {
        let next = try SyncMembers(raw, of: "asset: /next/\(index)", limit: Self.memberLimit)
        let writer = try next.text("writer", 1...128)
        guard SyncEnvelope.isWriter(writer) else {
          throw next.failure("writer", "is not the name of a writer")
        }
        reservations.append(
          Reservation(object: try Self.object(next), key: try Self.key(next), writer: writer))
      }
    }
    guard Set(objects).count == objects.count else { throw members.failure("next", "names an object twice") }
    isSuspect = members.raw("suspect") == nil ? false : try members.flag("suspect")
    isSensitive = members.raw("sensitive") == nil ? false : try members.flag("sensitive")
    unused = try members.integerIfAny("unused", SyncPack.numbers)
    others = members.others(than: Self.known)
  }

  private static func object(_ members: SyncMembers) throws -> AssetObject {
    guard let object = AssetObject(try members.text("object", 66...66)) else {
      throw members.failure("object", "is not the name of an object")
    }
    return object
  }

  private static func key(_ members: SyncMembers) throws -> [UInt8] {
    HexadecimalName.bytes(try members.digits("key", count: EncryptionKey.length * 2))
  }

  /// The length and that of the object are determined by the size: no other bytes are ever read.
  private static func location(_ members: SyncMembers, _ layout: AssetLayout) throws -> Location {
    let length = try members.integer("length", layout.length...layout.length)
    let of = try members.integer("of", length...max(length, maximumBundle))
    return Location(
      object: try object(members), offset: try members.integer("offset", 0...of - length), of: of,
      key: try key(members))
  }
}
