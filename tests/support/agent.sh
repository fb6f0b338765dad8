# The stub agent: `sh agent.sh FOLDER`. What it does is said by files in FOLDER; what it saw is kept in FOLDER/runs/RUN_ID.
folder=$1
me=$folder/runs/$DOORBELL_RUN_ID
mkdir "$me.new"
cat > "$me.new/prompt"
env -0 > "$me.new/env"
pwd > "$me.new/cwd"
echo $$ > "$me.new/pid"
: > "$me.new/children"
[ -e "$folder/ignore_term" ] && trap '' TERM
if [ -e "$folder/leave_children" ]; then
    # Neither holds a pipe of ours: whether a child with open pipes keeps a run alive is another story.
    sleep 600 </dev/null >/dev/null 2>&1 &
    echo $! >> "$me.new/children"
    setsid sleep 600 </dev/null >/dev/null 2>&1 &
    echo $! >> "$me.new/children"
fi
# From here on the test sees the run.
mv "$me.new" "$me"
echo "START $DOORBELL_RUN_ID" >> "$folder/order"
number=$(grep -n "START $DOORBELL_RUN_ID" "$folder/order" | cut -d: -f1)
number=$(head -n "$number" "$folder/order" | grep -c START)
# Waits until somebody opens the gate for writing; a gate that is gone is open.
[ -p "$folder/gate" ] && cat "$folder/gate" 2>/dev/null
[ -e "$folder/work" ] && sleep "$(cat "$folder/work")"
[ -e "$folder/stderr" ] && cat "$folder/stderr" >&2
code=0
if [ -e "$folder/fail" ]; then
    read -r first code_then < "$folder/fail"
    [ "$number" -le "$first" ] && code=$code_then
fi
echo "END $DOORBELL_RUN_ID" >> "$folder/order"
if [ -e "$folder/answer" ]; then
    cat "$folder/answer"
else
    printf 'answer to: '
    cat "$me/prompt"
fi
exit "$code"
