// The limit of size and load: a library in Swift that does nothing, with the runtime linked in.

@_cdecl("runtime_answer")
public func answer() -> Int32 { 42 }
