import SatchelCore
import SatchelJSON

/// A reference to immutable bytes: a picture, a sound, a file. In documents it is an object with the member `_asset`:
///
/// ```json
/// {"_asset": {"sha256": "…64 hexadecimal digits…", "size": 48213, "type": "image/jpeg", "url": "https://…"}}
/// ```
///
/// `sha256` names the bytes, wherever they are. `url` alone names bytes that were not fetched yet. The type belongs to the
/// reference and not to the bytes.
public struct Asset: Hashable, Sendable {
  /// The SHA-256 of the bytes, 64 hexadecimal digits in lower case; nil for an asset that only has a URL.
  public var sha256: String? { digest?.text }
  /// The number of bytes; nil when it is not known.
  public var size: Int64?
  /// The media type, such as "image/jpeg"; nil when it is not known.
  public var type: String?
  /// Where the bytes can be fetched, http or https; nil for nowhere.
  public var url: String?

  package var digest: AssetDigest?

  package init(_ digest: AssetDigest?, size: Int64? = nil, type: String? = nil, url: String? = nil) {
    (self.digest, self.size, self.type, self.url) = (digest, size, type, url)
  }

  /// Creates a reference to bytes by their SHA-256.
  ///
  /// - Throws: `SatchelError` `.invalid` for an invalid SHA-256, a negative size, or a URL that is not http or https
  public init(sha256: String, size: Int64? = nil, type: String? = nil, url: String? = nil) throws {
    guard let digest = AssetDigest(sha256) else { throw Self.invalidDigest(sha256) }
    self.init(digest, size: size, type: type, url: url)
    try check()
  }

  /// Creates a reference to bytes that are fetched from a URL.
  ///
  /// - Throws: `SatchelError` `.invalid` for a URL that is not http or https
  public init(url: String, type: String? = nil) throws {
    self.init(nil, type: type, url: url)
    try check()
  }

  private func check() throws {
    if let problem { throw SatchelError(.invalid, "\(problem.member): \(problem.reason)") }
  }

  private static func invalidDigest(_ text: String) -> SatchelError {
    SatchelError(
      .invalid, "sha256: \(text.prefix(80)) must be 64 hexadecimal digits in lower case")
  }

  /// The longest URL, and the longest type, in bytes.
  static let (maxURL, maxType) = (2048, 255)

  /// The reason why a reference is invalid; nil for a valid one.
  private var problem: (member: String, reason: String)? {
    if let size, !AssetSchema.sizes.contains(size) {
      return ("size", "\(size) must be 0 to \(AssetSchema.sizes.upperBound)")
    }
    if let type, !Self.isType(type) { return ("type", Self.typeRule) }
    if let url, !Self.isURL(url) {
      return (
        "url", "must begin with http:// or https://, and have at most \(Self.maxURL) bytes without spaces"
      )
    }
    return digest == nil && url == nil ? ("", "must have sha256 or url") : nil
  }

  static func isType(_ text: String) -> Bool {
    !text.utf8.isEmpty && text.utf8.count <= maxType && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  static var typeRule: String { "must be a media type of 1 to \(maxType) bytes, such as image/jpeg" }

  /// Whether a text is a URL that may be fetched.
  package static func isURL(_ text: String) -> Bool {
    let lower = text.prefix(8).lowercased()
    guard lower.hasPrefix("http://") || lower.hasPrefix("https://"), text.utf8.count <= maxURL else {
      return false
    }
    let rest = text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
    return rest.first.map { $0 != UInt8(ascii: "/") } ?? false
      && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  /// Reads the value of a member `_asset`.
  ///
  /// - Returns: the reference, or the pointer from the value on and the reason why it is invalid
  static func read(_ value: JSONValue) -> Result<Asset, AssetProblem> {
    func problem(_ member: String, _ reason: String) -> Result<Asset, AssetProblem> {
      .failure(AssetProblem(pointer: member.isEmpty ? "" : "/" + member, reason: reason))
    }
    guard let members = value.objectValue else {
      return problem("", "must be an object with the SHA-256 or the URL of an asset, not \(value.kind)")
    }
    var asset = Asset(nil)
    if let sha256 = members["sha256"], !sha256.isNull {
      guard let text = sha256.stringValue, let digest = AssetDigest(text) else {
        return problem("sha256", "must be 64 hexadecimal digits in lower case")
      }
      asset.digest = digest
    }
    if let size = members["size"], !size.isNull {
      guard let number = size.intValue else { return problem("size", "must be an integer") }
      asset.size = number
    }
    for (name, path) in [("type", \Asset.type), ("url", \Asset.url)] {
      guard let member = members[name], !member.isNull else { continue }
      guard let text = member.stringValue else { return problem(name, "must be a string") }
      asset[keyPath: path] = text
    }
    if let found = asset.problem { return problem(found.member, found.reason) }
    return .success(asset)
  }
}

/// Why the value of a member `_asset` is not a reference.
struct AssetProblem: Error {
  /// From the value on.
  var pointer: String
  var reason: String
}

extension Asset: JSONConvertible {
  /// The object with the member `_asset`.
  public var json: JSONValue { ["_asset": members] }

  /// The value of the member `_asset`.
  package var members: JSONValue {
    var members = JSONObject()
    if let sha256 { members["sha256"] = .string(sha256) }
    if let size { members["size"] = .int(size) }
    if let type { members["type"] = .string(type) }
    if let url { members["url"] = .string(url) }
    return .object(members)
  }

  /// Reads an object with the member `_asset`, as documents have it, or the value of that member; or a string, which is a
  /// SHA-256 or a URL. Other members are ignored.
  ///
  /// - Throws: `JSONError`, with the pointer of the member
  public init(json: JSONValue) throws {
    if let text = json.stringValue {
      let digest = AssetDigest(text)
      guard digest != nil || Self.isURL(text) else {
        throw JSONError(
          "must be the SHA-256 of an asset, 64 hexadecimal digits in lower case, or its URL", pointer: "")
      }
      self.init(digest, url: digest == nil ? text : nil)
      return
    }
    let value = json["_asset"]
    switch Self.read(value ?? json) {
    case .success(let asset): self = asset
    case .failure(let problem):
      throw JSONError(problem.reason, pointer: (value == nil ? "" : "/_asset") + problem.pointer)
    }
  }
}

extension Asset: Codable {
  private enum CodingKeys: String, CodingKey {
    case asset = "_asset"
  }

  private struct Members: Codable {
    var sha256: String?
    var size: Int64?
    var type: String?
    var url: String?
  }

  /// Reads the object with the member `_asset`, so that a property of a typed document can be an asset.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let members = try container.decode(Members.self, forKey: .asset)
    let digest = members.sha256.flatMap { AssetDigest($0) }
    self.init(digest, size: members.size, type: members.type, url: members.url)
    let reason =
      members.sha256 != nil && digest == nil
      ? "sha256: must be 64 hexadecimal digits in lower case" : problem.map { "\($0.member): \($0.reason)" }
    if let reason {
      throw DecodingError.dataCorruptedError(forKey: .asset, in: container, debugDescription: reason)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Members(sha256: sha256, size: size, type: type, url: url), forKey: .asset)
  }
}

/// The SHA-256 of an asset's bytes, by which it is known.
package struct AssetDigest: Hashable, Comparable, Sendable, CustomStringConvertible {
  package static let length = 32

  /// 32 bytes.
  package let bytes: [UInt8]

  /// - Returns: nil unless they are 32 bytes
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits in lower case.
  package init?(_ text: String) {
    guard HexadecimalName.isName(text, digits: 64) else { return nil }
    bytes = HexadecimalName.bytes(text)
  }

  private init(known bytes: [UInt8]) { self.bytes = bytes }

  /// Returns a name that no content has.
  static func random() -> AssetDigest { AssetDigest(known: AssetSeal.newKey()) }

  /// 64 hexadecimal digits in lower case.
  package var text: String { bytes.hexadecimal }

  package var description: String { text }

  package static func < (one: Self, other: Self) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }
}
