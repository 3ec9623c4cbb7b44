import CScan
import SatchelCore
import SatchelJSON

/// The assets that a JSON document refers to.
package struct AssetReferences: Sendable {
  /// The maximum number of references in a document.
  package static let max = 10_000

  /// The references, each once, with the pointer of the object that has the member `_asset`.
  package private(set) var found: [(pointer: String, asset: Asset)] = []
  /// The members `_asset` that are not references, and why.
  package private(set) var problems: [(pointer: String, reason: String)] = []

  package var isEmpty: Bool { found.isEmpty && problems.isEmpty }

  /// No references.
  package init() {}

  /// Adds URLs that are strings of a document.
  package mutating func add(urls: [String]) {
    found += urls.prefix(Swift.max(0, Self.max - found.count)).map { ("", Asset(nil, url: $0)) }
  }

  /// Adds those of another document.
  package mutating func add(_ other: AssetReferences) {
    found += other.found
    problems += other.problems
  }

  /// Whether bytes may have a member `_asset`: a document without one is not parsed for them. The key of a member may be
  /// written with escapes.
  package static func mayContain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    func contains(_ part: StaticString) -> Bool {
      satchel_contains(bytes.baseAddress, bytes.count, part.utf8Start, part.utf8CodeUnitCount)
    }
    return contains("_asset\"") || contains("\\u00")
  }

  /// Finds the references of a document.
  ///
  /// - Parameter bytes: JSON that was scanned
  package init(in bytes: UnsafeRawBufferPointer) throws {
    self.init(in: Self.mayContain(bytes) ? try JSONValue(parsing: bytes) : .null)
  }

  /// Finds the references of a value.
  package init(in value: JSONValue) {
    var (known, pointer) = (Set<String>(), "")
    visit(value, &pointer, &known)
  }

  /// The scanner has bounded the depth.
  private mutating func visit(_ value: JSONValue, _ pointer: inout String, _ known: inout Set<String>) {
    switch value {
    case .object(let members):
      for (key, member) in members {
        if key == "_asset" { add(member, pointer, &known) }
        descend(member, JSONPointer.escaped(key), &pointer, &known)
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() { descend(element, "\(index)", &pointer, &known) }
    default: break
    }
  }

  private mutating func descend(
    _ value: JSONValue, _ token: String, _ pointer: inout String, _ known: inout Set<String>
  ) {
    guard value.arrayValue != nil || value.objectValue != nil else { return }
    let length = pointer.utf8.count
    pointer += "/" + token
    visit(value, &pointer, &known)
    pointer = String(decoding: pointer.utf8.prefix(length), as: UTF8.self)
  }

  private mutating func add(_ value: JSONValue, _ pointer: String, _ known: inout Set<String>) {
    switch Asset.read(value) {
    case .failure(let problem): problems.append((pointer + "/_asset" + problem.pointer, problem.reason))
    case .success(let asset):
      // By its text: a set of its own would be 4 KB of code.
      guard known.insert((try? asset.members.text) ?? "").inserted else { return }
      if known.count == Self.max + 1 {
        problems.append((pointer, "the document has more than \(Self.max) references to assets"))
      }
      if known.count <= Self.max { found.append((pointer, asset)) }
    }
  }
}
