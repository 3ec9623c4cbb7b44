import SatchelCore
import SatchelJSON

/// Notices the paths of a query that no record has, while the query looks at all records: probably misspelled ones.
final class PathWatch {
  private var paths: [DocumentPath] = []
  /// The document of a record that lacks one of them, to suggest what was meant.
  private var example: [UInt8] = []

  /// Adds a path that records should have.
  func add(_ path: FieldPath) {
    guard let path = path.source, !paths.contains(path) else { return }
    paths.append(path)
  }

  func look(at candidate: borrowing Candidate) {
    if paths.isEmpty { return }
    let document = candidate.document
    var position = 0
    while position < paths.count {
      if document.find(paths[position]) == nil { position += 1 } else { paths.remove(at: position) }
    }
    if !paths.isEmpty, example.isEmpty { example = Array(candidate.body) }
  }

  /// Returns a warning of each path that no record had, after all of them were looked at; none when there were no records.
  func warnings() -> [String] {
    guard !example.isEmpty, !paths.isEmpty else { return [] }
    let document = (try? example.withUnsafeBytes { try JSONValue(parsing: $0) }) ?? .null
    return paths.map { path in
      let likely = Self.likely(path.path.components, in: document)
      let hint =
        likely.map { path.path.isPointer ? JSONPath.pointer($0) : $0.joined(separator: ".") }.map {
          ": did you mean \"\($0)\"?"
        } ?? ""
      return "query: no record has \"\(path.text)\"" + hint
    }
  }

  /// Returns the path of a document that was probably meant by one that it lacks.
  private static func likely(_ components: [String], in document: JSONValue) -> [String]? {
    var (value, found) = (document, components)
    for (position, name) in components.enumerated() {
      guard case .object(let members) = value else { return nil }
      if let next = members[name] {
        value = next
        continue
      }
      guard let likely = EditDistance.nearest(to: name, among: members.map(\.key)) else { return nil }
      found[position] = likely
      value = members[likely] ?? .null
    }
    return found
  }
}

extension RecordCollection {
  /// The maximum number of warnings of queries that are kept.
  private static let maxQueryWarnings = 20

  func note(_ watch: PathWatch) {
    let warnings = watch.warnings()
    guard !warnings.isEmpty else { return }
    queryWarnings.withLock { known in
      for warning in warnings where known.count < Self.maxQueryWarnings && !known.contains(warning) {
        known.append(warning)
      }
    }
  }
}
