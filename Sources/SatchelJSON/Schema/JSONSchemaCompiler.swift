/// Compiles a schema to nodes: one for each location that is reachable from the root.
final class JSONSchemaCompiler {
  private let references: JSONSchemaReferences
  private var nodes: [JSONSchemaNode] = []
  private var locations: [JSONSchemaLocation] = []
  private var known: [JSONKey: Int] = [:]

  /// Compiles a schema; the first node is the root.
  static func compile(_ schema: JSONValue) throws -> [JSONSchemaNode] {
    guard schema.depth <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
    let compiler = JSONSchemaCompiler(references: try JSONSchemaReferences(schema))
    _ = compiler.node(compiler.references.document)
    // Reading a location may add further ones; each is added only once.
    var next = 0
    while next < compiler.locations.count {
      compiler.nodes[next] = try compiler.read(compiler.locations[next])
      next += 1
    }
    try compiler.checkEnds()
    return compiler.nodes
  }

  private init(references: JSONSchemaReferences) { self.references = references }

  /// Returns the index of a location's node, which is read later.
  func node(_ location: JSONSchemaLocation) -> Int {
    let key = JSONKey(text: JSONPath.pointer(location.path))
    if let index = known[key] { return index }
    known[key] = nodes.count
    nodes.append(JSONSchemaNode())
    locations.append(location)
    return nodes.count - 1
  }

  /// Returns the index of the node that a "$ref" refers to.
  func node(of reference: String, from location: JSONSchemaLocation) throws -> Int {
    node(try references.location(of: reference, from: location))
  }

  private func read(_ location: JSONSchemaLocation) throws -> JSONSchemaNode {
    switch location.value {
    case .bool(let verdict): return JSONSchemaNode(verdict: verdict)
    case .object(let members):
      return JSONSchemaNode(
        rules: try JSONSchemaReader(location: location, members: members, compiler: self).rules())
    default:
      throw JSONError(
        "a schema is an object or a boolean, not \(location.value.kind)",
        pointer: JSONPath.pointer(location.path)
      )
    }
  }

  /// Rejects schemas that apply themselves to the same value, which would not terminate.
  private func checkEnds() throws {
    enum Mark { case new, open, done }
    var marks = [Mark](repeating: .new, count: nodes.count)
    for start in nodes.indices where marks[start] == .new {
      var stack = [(index: start, rest: nodes[start].inPlace[...])]
      marks[start] = .open
      while var top = stack.popLast() {
        guard let next = top.rest.popFirst() else {
          marks[top.index] = .done
          continue
        }
        stack.append(top)
        switch marks[next] {
        case .done: break
        case .open:
          throw JSONError(
            "the schema refers to itself without end", pointer: JSONPath.pointer(locations[top.index].path))
        case .new:
          marks[next] = .open
          stack.append((next, nodes[next].inPlace[...]))
        }
      }
    }
  }
}
