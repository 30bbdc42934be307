package modelstest

// corpus is what the merges are learned from.
const corpus = `A large model and a small model write one answer together. The small model writes most of the tokens, and when it
is not sure of the next token, it asks the large model. The large model reads what was written, writes the token, and
hands the request back. That is what the router is for: it says where the request goes after every token.
People ask what the answer costs. It costs what the tokens of the small model cost, and now and then a token of the
large model. They ask whether it's as good as the answer of the large model alone. We'll see: it's nearly as good, and it
is there in half the time. The server reads the prompt, makes tokens of it, and sends text as soon as there is a whole
character of it. Don't send half of one.
Numbers: 0 1 2 3 4 5 6 7 8 9 10 42 100 1000 2024. Größe, naïve, café, déjà vu. Ωμέγα. Привет, мир! 你好，世界。こんにちは。
func main() {
	fmt.Println("hello, world")
	for i := 0; i < 10; i++ {
		print(i)
	}
}
`

// Template is a chat template in the manner of ChatML, with tools.
const Template = `{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n' }}
    {%- endif %}
    {{- 'Tools:' }}
    {%- for tool in tools %}
        {{- '\n' + (tool | tojson) }}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant', 'tool'] %}
        {{- raise_exception('the role ' + message.role + ' is not known here') }}
    {%- endif %}
    {%- if not (tools and loop.first and message.role == 'system') %}
        {{- '<|im_start|>' + message.role + '\n' }}
        {{- message.content }}
        {%- for call in message.tool_calls %}
            {{- '\n<tool_call>\n' + (call.function | tojson) + '\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}`
